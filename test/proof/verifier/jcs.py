# SPDX-License-Identifier: Apache-2.0
"""RFC 8785: strict reading and canonical writing of JSON.

No function is recursive, so that a deep text cannot exhaust the stack.
"""
import re
from json.decoder import scanstring

MAX_DEPTH = 4000
SPACE = re.compile(r"[ \t\n\r]*")
NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?")
WORDS = {"true": True, "false": False, "null": None}


class NotJson(ValueError):
    pass


def parse(text):
    """The value of a text of JSON without duplicate names, lone surrogates or integers that lose digits."""
    try:
        text.encode("utf-8")
        return parsed(text)
    except (IndexError, ValueError) as error:
        raise NotJson(str(error)) from None


def parsed(text):
    outer, inner, name, value, at = [], None, None, None, skip(text, 0)
    while True:
        # A value begins here; an empty list or object is complete.
        if text[at] in "[{":
            if len(outer) == MAX_DEPTH:
                raise NotJson("nested too deeply")
            outer.append((inner, name))
            inner = [] if text[at] == "[" else {}
            at = skip(text, at + 1)
            if text[at] != closing(inner):
                name, at = member(text, at, inner)
                continue
        else:
            value, at = scalar(text, at)
            at = skip(text, at)
            if inner is None:
                break
            put(inner, name, value)
        # After a value come any number of closing brackets, then the next member.
        while inner is not None and at < len(text) and text[at] == closing(inner):
            value = inner
            inner, name = outer.pop()
            at = skip(text, at + 1)
            if inner is not None:
                put(inner, name, value)
        if inner is None:
            break
        if text[at] != ",":
            raise NotJson("expected a comma")
        name, at = member(text, skip(text, at + 1), inner)
    if at != len(text):
        raise NotJson("more than one value")
    return value


def skip(text, at):
    return SPACE.match(text, at).end()


def closing(inner):
    return "]" if isinstance(inner, list) else "}"


def member(text, at, inner):
    """The name of the next member (None in a list) and the offset of its value."""
    if isinstance(inner, list):
        return None, at
    if text[at] != '"':
        raise NotJson("expected a name")
    name, at = string(text, at)
    at = skip(text, at)
    if text[at] != ":":
        raise NotJson("expected a colon")
    return name, skip(text, at + 1)


def put(inner, name, value):
    if isinstance(inner, list):
        inner.append(value)
    elif name in inner:
        raise NotJson("duplicate member name")
    else:
        inner[name] = value


def string(text, at):
    value, end = scanstring(text, at + 1, True)
    # An escape can hide a lone surrogate.
    value.encode("utf-8")
    return value, end


def scalar(text, at):
    if text[at] == '"':
        return string(text, at)
    for word, value in WORDS.items():
        if text.startswith(word, at):
            return value, at + len(word)
    found = NUMBER.match(text, at)
    if not found:
        raise NotJson("expected a value")
    value = float(found[0])
    if value in (float("inf"), float("-inf")):
        raise NotJson("a number too large")
    if value.is_integer() and abs(value) < 2**53:
        value = int(value)
    elif not (found[2] or found[3]) and number(value) != found[0]:
        raise NotJson("an integer that is not the shortest form of its double")
    return value, found.end()


ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
SPECIAL = re.compile(r'["\\\x00-\x1f]')


def quoted(text):
    return '"' + SPECIAL.sub(lambda found: ESCAPES.get(found[0], "\\u%04x" % ord(found[0])), text) + '"'


def number(value):
    """A number as ECMAScript writes it (ECMA-262, Number::toString)."""
    if isinstance(value, int):
        return str(value)
    if value == 0:
        return "0"
    mantissa, _, power = ("%r" % abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + ("" if fraction == "0" else fraction)).lstrip("0")
    point = len(whole) + int(power or 0)
    if whole == "0":
        point = int(power or 0) - (len(fraction) - len(fraction.lstrip("0")))
    digits = digits.rstrip("0") or "0"
    count = len(digits)
    sign = "-" if value < 0 else ""
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    exponent = "e%+d" % (point - 1)
    return sign + digits[0] + ("." + digits[1:] if count > 1 else "") + exponent


def canonical(value):
    """The canonical text of a value. A list holds the parts that are still to be written: texts and values."""
    pieces, waiting = [], [(None, value)]
    while waiting:
        text, value = waiting.pop()
        if text is not None:
            pieces.append(text)
        elif isinstance(value, list):
            pieces.append("[")
            waiting.append(("]", None))
            for index in range(len(value) - 1, -1, -1):
                waiting.append((None, value[index]))
                if index > 0:
                    waiting.append((",", None))
        elif isinstance(value, dict):
            pieces.append("{")
            waiting.append(("}", None))
            names = sorted(value, key=lambda name: name.encode("utf-16-be"))
            for index in range(len(names) - 1, -1, -1):
                waiting.append((None, value[names[index]]))
                waiting.append((("," if index > 0 else "") + quoted(names[index]) + ":", None))
        else:
            pieces.append(simple(value))
    return "".join(pieces)


def simple(value):
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    return quoted(value) if isinstance(value, str) else number(value)
