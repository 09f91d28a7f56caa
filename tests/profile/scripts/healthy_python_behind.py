"""Healthy: plain Python prepares each fold and sums up behind all of them, between and behind the fits, not in their steps."""

from parts import compiled, convolutions, images


def counted(numbers):
    words = {}
    for number in numbers:
        words[number % 977] = words.get(number % 977, 0) + 1
    return words


for _ in range(2):
    counted(range(12_000_000))
    x, y = images(1024)
    compiled(convolutions()).fit(x, y, batch_size=32, epochs=3, verbose=0)
counted(range(40_000_000))
