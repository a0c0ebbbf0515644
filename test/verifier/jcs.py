# SPDX-License-Identifier: Apache-2.0
"""RFC 8785: reading JSON that could have been written in one way only, and writing it that way."""
import json
import re


class NotJson(ValueError):
    pass


def parse(text):
    """The value of a text of JSON without duplicate names, lone surrogates or numbers that lose digits."""

    def members(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise NotJson("duplicate member name")
        return found

    def integer(digits):
        value = int(digits)
        if abs(value) > 2**53 - 1:
            raise NotJson("an integer beyond 2^53-1")
        return value

    def double(literal):
        value = float(literal)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value

    def refuse(word):
        raise NotJson(word)

    try:
        value = json.loads(
            text, object_pairs_hook=members, parse_int=integer, parse_float=double, parse_constant=refuse)
        check(value, 0)
        return value
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def check(value, depth):
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, (dict, list)):
        if depth >= 64:
            raise NotJson("nested deeper than 64")
        for name in value if isinstance(value, dict) else ():
            name.encode("utf-8")
        for item in value.values() if isinstance(value, dict) else value:
            check(item, depth + 1)
    elif isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise NotJson("a number too large")


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
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(quoted(name) + ":" + canonical(value[name]) for name in names) + "}"
