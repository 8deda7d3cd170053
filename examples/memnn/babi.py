"""Reads files in the format of the bAbI tasks: stories of sentences and questions."""

import collections

import numpy as np

Sentence = collections.namedtuple('Sentence', 'words')
Question = collections.namedtuple('Question', 'words answer')


def parse_line(vocab, line):
    """Returns the number of a line in its story, and the sentence or question in it."""
    number, text = line.rstrip('\n').split(' ', 1)
    text, *answer = text.split('\t')
    words = [vocab[word.lower()] for word in text.replace('.', ' ').replace('?', ' ').split()]
    if answer:
        return int(number), Question(words, vocab[answer[0].lower()])
    return int(number), Sentence(words)


def read_stories(vocab, path):
    """Returns a list of stories; ``vocab`` assigns IDs to new words."""
    stories = []
    with open(path, encoding='utf-8') as f:
        for line in f:
            number, item = parse_line(vocab, line)
            if number == 1:
                stories.append([])
            stories[-1].append(item)
    return stories


def make_arrays(stories, max_memory, sentence_length):
    """Makes an example from each question: sentences before it, question and answer.

    Returns:
        list of tuples: int32 arrays ``(max_memory, sentence_length)`` with the latest sentence
        first, ``(sentence_length,)`` and ``()``, padded with zeros.

    """
    examples = []
    for story in stories:
        memory = np.zeros((max_memory, sentence_length), np.int32)
        for item in story:
            words = np.zeros(sentence_length, np.int32)
            words[: len(item.words)] = item.words
            if isinstance(item, Question):
                examples.append((memory.copy(), words, np.int32(item.answer)))
            else:
                memory[1:] = memory[:-1].copy()
                memory[0] = words
    return examples
