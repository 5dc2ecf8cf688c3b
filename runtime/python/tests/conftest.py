"""Options of the tests: how long to look for calls that end the process."""


def pytest_addoption(parser):
    parser.addoption("--calls", type=int, default=5000, help="how many bad calls the fuzz test makes")
