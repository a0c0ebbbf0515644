# SPDX-License-Identifier: Apache-2.0
"""The zip of a proof bundle: the issued container, or another one with the same files."""
import re
import struct
import zlib

from checks import Broken

NAME = re.compile(r"[A-Za-z_]+\.[a-z]+")
MAX = {"directory": 2**16, "text": 2**20, "line": 2**25, "hashes": 2**26, "members": 64, "bytes": 2**34,
        "unchecked": 2**26, "ratio": 1000}
FLAGS = 0x080E


class Zip:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.is_issued = self.read_issued()
        if not self.is_issued:
            self.read_repacked()

    def read_issued(self):
        """Reads the one encoding of an issued bundle; False for any other zip."""
        data = self.data
        if len(data) < 22 or data[-22:-18] != b"PK\x05\x06":
            return False
        length, start = struct.unpack("<II", data[-10:-2])
        if start + length + 22 != len(data) or length + 22 > MAX["directory"]:
            return False
        self.names, self.files, position, directory = [], {}, 0, b""
        for method, sizes, name in self.listed(start, start + length):
            if not NAME.fullmatch(name.decode("latin1")):
                return False
            about = struct.pack("<HHHHHIIIHH", 20, 0x800, 8 if method == 8 else 0, 0, 0x21, *sizes, len(name), 0)
            header = b"PK\x03\x04" + about + name
            if data[position : position + len(header)] != header:
                return False
            begin = position + len(header)
            self.add(name.decode(), method == 8, data[begin : begin + sizes[1]], sizes)
            directory += b"PK\x01\x02" + struct.pack("<H", 0x0314) + about + struct.pack(
                "<HHHII", 0, 0, 0, 0o100644 << 16, position) + name
            position = begin + sizes[1]
        end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(self.names), len(self.names), length, start, 0)
        return bool(self.names) and data[start:] == directory + end and position == start

    def add(self, name, deflated, content, sizes):
        self.names.append(name)
        self.files.setdefault(name, (deflated, content, sizes[0], sizes[2]))

    def listed(self, at, end):
        """(method, (crc, packed, bytes), name) of each entry of an issued directory."""
        found = []
        while at + 46 <= end:
            method, = struct.unpack_from("<H", self.data, at + 10)
            sizes = struct.unpack_from("<III", self.data, at + 16)
            count, = struct.unpack_from("<H", self.data, at + 28)
            found.append((method, sizes, self.data[at + 46 : at + 46 + count]))
            at += 46 + count
        return found

    def read_repacked(self):
        """Reads the zip of another program; rejects one that two programs could read differently."""
        start, length, count = self.end()
        members = self.members(start, length, count)
        self.names, self.files, spans = [], {}, []
        for name, raw, method, sizes, header in self.plain(members):
            if header + 30 + len(raw) > len(self.data) or self.data[header : header + 4] != b"PK\x03\x04":
                raise Broken("not_a_bundle")
            flags, own, crc, packed, size, name_size, extra = struct.unpack_from("<2xHH4xIIIHH", self.data, header + 4)
            begin = header + 30 + len(raw)
            is_same = (name_size == len(raw) and self.data[begin - len(raw) : begin] == raw and not flags & ~FLAGS
                       and own == method and (flags & 8 or (crc, packed, size) == sizes))
            if not is_same:
                raise Broken("not_a_bundle")
            begin += extra
            spans.append((header, begin + sizes[1]))
            self.add(name, method == 8, self.data[begin : begin + sizes[1]], sizes)
        spans.sort()
        if any(end > following for (_, end), (following, _) in zip(spans, spans[1:] + [(start, 0)])):
            raise Broken("not_a_bundle")

    def end(self):
        """Offset, length and member count of the directory."""
        data, found = self.data, []
        at = data.find(b"PK\x05\x06", max(0, len(data) - 22 - 0xFFFF))
        while at >= 0:
            if at + 22 <= len(data):
                disk, first, here, count, length, start, comment = struct.unpack_from("<HHHHIIH", data, at + 4)
                if at + 22 + comment == len(data):
                    is_end = (disk, first, here) == (0, 0, count) and start + length == at
                    found.append((start, length, count) if is_end else None)
            at = data.find(b"PK\x05\x06", at + 1)
        if len(found) != 1 or found[0] is None or found[0][1] > MAX["directory"]:
            raise Broken("not_a_bundle")
        return found[0]

    def members(self, at, length, count):
        end, found = at + length, []
        while at < end:
            if at + 46 > end or self.data[at : at + 4] != b"PK\x01\x02":
                raise Broken("not_a_bundle")
            flags, method, crc, packed, size, name_size, extra, comment, disk, header = struct.unpack_from(
                "<4xHH4xIIIHHHH6xI", self.data, at + 4)
            after = at + 46 + name_size + extra + comment
            if after > end or disk or flags & ~FLAGS or method not in (0, 8):
                raise Broken("not_a_bundle")
            found.append((self.data[at + 46 : at + 46 + name_size], method, (crc, packed, size), header))
            at = after
        if len(found) != count or not 0 < count <= MAX["members"]:
            raise Broken("not_a_bundle")
        return found

    @staticmethod
    def plain(members):
        """The files without a folder around all of them, as (name, raw name, method, sizes, header)."""
        found = []
        for raw, *rest in members:
            name = raw.decode("latin1")
            if not re.fullmatch("[ -~]+", name) or re.search(r"^/|\\|:|(^|/)\.\.(/|$)", name):
                raise Broken("not_a_bundle")
            found.append((re.sub(r"^(\./)+", "", name), raw, *rest))
        files = [one for one in found if one[0] and not one[0].endswith("/")]
        top = files[0][0].partition("/")[0] + "/" if files and "/" in files[0][0] else ""
        if len(top) > 1 and all(not name or name.startswith(top) for name, *_ in found):
            files = [(name[len(top) :], *rest) for name, *rest in files]
        names, sizes = [name for name, *_ in files], [rest[2] for _, *rest in files]
        is_bomb = any(size > MAX["unchecked"] and size > packed * MAX["ratio"] for _, packed, size in sizes)
        if len(set(names)) < len(names) or sum(size for _, _, size in sizes) > MAX["bytes"] or is_bomb:
            raise Broken("not_a_bundle")
        return files

    def packed(self, name):
        return self.files[name][1]

    def is_stored(self, name):
        return not self.files[name][0]

    def sizes(self, name):
        """Bytes of the content and in the zip."""
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

    def whole(self, name, limit):
        if name in self.files and self.files[name][3] > limit:
            raise Broken("not_a_bundle")
        return self.content(name)

    def lines(self, name):
        *lines, rest = self.content(name).split(b"\n")
        for line in lines:
            if len(line) > MAX["line"]:
                raise Broken("not_a_bundle")
            yield line.decode()
        if rest:
            raise Broken("not_a_bundle")
