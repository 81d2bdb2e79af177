import AppStorePayloads

/// Reads packed bytes from the front; see ``PackedBody`` for their form.
struct PackedBodyReader {
    private let bytes: [UInt8]
    private var position = 0
    /// The headers, by their numbers in pieces.
    var headers: [[UInt8]] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the part before the pieces.
    mutating func start() throws(UnreadableBody) -> (length: Int, digests: [[UInt8]]) {
        let length = try number()
        guard length <= PackedBody.maximumSize else { throw .damaged }
        var digests: [[UInt8]] = []
        guard let count = try take(1).first else { throw .damaged }
        for _ in 0..<count { digests.append(Array(try take(SignatureHeader.digestSize))) }
        return (length, digests)
    }

    /// Appends the expansion of the pieces up to `end`.
    /// - Parameters:
    ///   - limit: the most bytes that `output` may hold in the end.
    ///   - mayNest: whether pieces may hold pieces.
    mutating func expand(
        upTo end: Int, into output: inout [UInt8], limit: Int, mayNest: Bool
    ) throws(UnreadableBody) {
        while position < end {
            let tag = try number()
            let number = tag >> 2
            switch PackedBody.Kind(rawValue: tag & 3) {
            case .literal:
                try append(try take(number), to: &output, limit)
            case .header:
                guard headers.indices.contains(number) else { throw .damaged }
                try append(headers[number][...], to: &output, limit)
            case .base64:
                try append(Base64.url.encode(Array(try take(number)))[...], to: &output, limit)
            case .nested:
                guard mayNest, number <= end - position else { throw .damaged }
                var inner: [UInt8] = []
                inner.reserveCapacity(limit / 4 * 3)
                try expand(upTo: position + number, into: &inner, limit: limit, mayNest: false)
                try append(Base64.url.encode(inner)[...], to: &output, limit)
            case nil:
                throw .damaged
            }
        }
        // A piece that extends beyond the pieces around it.
        guard position == end else { throw .damaged }
    }

    private func append(_ part: ArraySlice<UInt8>, to output: inout [UInt8], _ limit: Int) throws(UnreadableBody) {
        guard part.count <= limit - output.count else { throw .damaged }
        output.append(contentsOf: part)
    }

    private mutating func take(_ count: Int) throws(UnreadableBody) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw .damaged }
        position += count
        return bytes[(position - count)..<position]
    }

    /// At most 28 bits, so that nothing computed with it overflows.
    private mutating func number() throws(UnreadableBody) -> Int {
        var value = 0
        for shift in stride(from: 0, to: 28, by: 7) {
            guard position < bytes.count else { throw .damaged }
            let byte = Int(bytes[position])
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw .damaged
    }
}
