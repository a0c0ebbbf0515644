# SPDX-License-Identifier: Apache-2.0
"""The zip of a proof bundle."""
import re
import struct
import zlib

from checks import Broken

NAME = re.compile(r"[A-Za-z_]+\.[a-z]+")
MOST = {"directory": 2**16, "text": 2**20, "line": 2**25, "hashes": 2**26}


class Zip:
    """The one way in which a bundle is written as a zip."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = data = file.read()
        if len(data) < 22 or data[-22:-18] != b"PK\x05\x06":
            raise Broken("not_a_bundle")
        length, start = struct.unpack("<II", data[-10:-2])
        if start + length + 22 != len(data) or length + 22 > MOST["directory"]:
            raise Broken("not_a_bundle")
        self.names, self.files, position, directory = [], {}, 0, b""
        for method, sizes, name in self.listed(start, start + length):
            about = struct.pack("<HHHHHIIIHH", 20, 0x800, 8 if method == 8 else 0, 0, 0x21, *sizes, len(name), 0)
            header = b"PK\x03\x04" + about + name
            if data[position : position + len(header)] != header:
                raise Broken("bytes_altered")
            begin = position + len(header)
            self.names.append(name.decode())
            self.files.setdefault(name.decode(), (method == 8, data[begin : begin + sizes[1]], sizes[0], sizes[2]))
            directory += b"PK\x01\x02" + struct.pack("<H", 0x0314) + about + struct.pack(
                "<HHHII", 0, 0, 0, 0o100644 << 16, position) + name
            position = begin + sizes[1]
        end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(self.names), len(self.names), length, start, 0)
        if data[start:] != directory + end or position != start:
            raise Broken("bytes_altered")

    def listed(self, at, end):
        """(method, (crc, packed, bytes), name) of all that the directory lists."""
        found = []
        while at + 46 <= end:
            method, = struct.unpack_from("<H", self.data, at + 10)
            sizes = struct.unpack_from("<III", self.data, at + 16)
            count, = struct.unpack_from("<H", self.data, at + 28)
            name = self.data[at + 46 : at + 46 + count]
            if not NAME.fullmatch(name.decode("latin1")):
                raise Broken("not_a_bundle")
            found.append((method, sizes, name))
            at += 46 + count
        if at != end or not found:
            raise Broken("not_a_bundle")
        return found

    def packed(self, name):
        return self.files[name][1]

    def sizes(self, name):
        """Bytes of the content, and as they stand in the zip."""
        return self.files[name][3], len(self.files[name][1])

    def content(self, name):
        if name not in self.files:
            raise Broken("not_a_bundle")
        deflated, content, crc, size = self.files[name]
        if deflated:
            stream = zlib.decompressobj(-15)
            try:
                content = stream.decompress(content, size + 1)
            except zlib.error:
                raise Broken("bytes_altered") from None
            if not stream.eof or stream.unused_data or stream.unconsumed_tail:
                raise Broken("bytes_altered")
        if len(content) != size or zlib.crc32(content) != crc:
            raise Broken("bytes_altered")
        return content

    def whole(self, name, most):
        content = self.content(name)
        if len(content) > most:
            raise Broken("not_a_bundle")
        return content

    def lines(self, name):
        *lines, rest = self.content(name).split(b"\n")
        for line in lines:
            if len(line) > MOST["line"]:
                raise Broken("not_a_bundle")
            yield line.decode()
        if rest:
            raise Broken("not_a_bundle")
