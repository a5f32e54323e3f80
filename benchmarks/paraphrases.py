"""Whether a prompt in other words gets its note, and other prompts none: with and without encoder.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.paraphrases MODEL

MODEL: the file that `nuggets encoder install` makes. Prompts: tests/paraphrase_samples.py.
"""

import os
import sys

from nuggets.encoder.minilm import load_model

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
)

import paraphrase_samples as paraphrases
import prompt_samples as prompts

FITTING = prompts.FITTING + prompts.FITTING_UNSEEN


def main() -> None:
    encoder = load_model(sys.argv[1])
    kinds = [
        (f"paraphrases, sample {number}", *sample)
        for number, sample in enumerate(paraphrases.SAMPLES, 1)
    ]
    for name, make, silent, fitting in (*kinds, ("plain prompts", prompts.lived_in, (), FITTING)):
        with make() as shelf:
            words = prompts.measured(shelf, silent, fitting)
            both = paraphrases.judge(shelf, encoder, silent, fitting)
        for way, found in (("words", words), ("words and meaning", both)):
            print(
                f"{name:24} {way:18} found {len(fitting) - len(found.missed)} of {len(fitting)}, "
                f"false injections {len(found.noise)} of {len(silent)}"
            )


if __name__ == "__main__":
    main()
