"""`torch.library.opcheck` of all operators of a library."""

import torch


def _opcheck(operators, samples, **options):
    names = {_full_name(operator).split("::")[1]: operator for operator in operators}
    without, unknown = sorted(names.keys() - samples.keys()), sorted(samples.keys() - names.keys())
    if without or unknown:
        raise ValueError(f"operators without samples: {without}; samples for no operator: {unknown}")
    count = 0
    for name, operator in names.items():
        for sample in samples[name]:
            is_pair = len(sample) == 2 and isinstance(sample[0], tuple) and isinstance(sample[1], dict)
            args, kwargs = sample if is_pair else (sample, {})
            try:
                torch.library.opcheck(_overload(operator), args, kwargs, **options)
            except Exception as error:
                raise AssertionError(f"{_full_name(operator)} with {args} {kwargs}: {error}") from error
            count += 1
    return count


