import CZlib

/// Files that are compressed with gzip, as Apple's reports are.
package enum Gzip {
    /// Whether bytes begin like such a file (RFC 1952, 2.3.1).
    package static func isCompressed(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    /// What is compressed in a file, of one part or of several one after the other.
    /// - Parameter limit: the most bytes that come out: a short file may stand for more than any machine has memory for.
    package static func inflated(_ bytes: [UInt8], atMost limit: Int) throws(ReportRefusal) -> [UInt8] {
        var stream = z_stream()
        // 15 is the largest window, and 16 more asks for gzip's header and checksum.
        guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw ReportRefusal("zlib has no memory for this file")
        }
        defer { inflateEnd(&stream) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var place = 0
        while true {
            let (status, taken, made) = step(&stream, bytes, from: place, into: &chunk)
            guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
                throw ReportRefusal("the file is damaged: gzip cannot read it; download it again")
            }
            place += taken
            guard text.count + made <= limit else {
                throw ReportRefusal(
                    "the file has more than \(limit >> 20) MiB when it is decompressed; a report has less")
            }
            text.append(contentsOf: chunk[..<made])
            if status == Z_STREAM_END {
                if place == bytes.count { return text }
                inflateReset(&stream)
            } else if taken == 0, made == 0 {
                throw ReportRefusal("the file is cut off: its compressed end is missing; download it again")
            }
        }
    }

    private static func step(
        _ stream: inout z_stream, _ bytes: [UInt8], from place: Int, into chunk: inout [UInt8]
    ) -> (status: Int32, taken: Int, made: Int) {
        let given = min(bytes.count - place, 1 << 20)
        return bytes.withUnsafeBufferPointer { source in
            chunk.withUnsafeMutableBufferPointer { target in
                // zlib reads from there and never writes.
                stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress.map { $0 + place })
                stream.avail_in = UInt32(given)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                let status = inflate(&stream, Z_NO_FLUSH)
                return (status, given - Int(stream.avail_in), target.count - Int(stream.avail_out))
            }
        }
    }
}
