"""Options of the tests: the number of calls of the fuzz test."""


def pytest_addoption(parser):
    parser.addoption("--calls", type=int, default=5000, help="how many bad calls the fuzz test makes")
