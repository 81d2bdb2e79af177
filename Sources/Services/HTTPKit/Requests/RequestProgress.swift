import NIOCore

/// How far a connection's requests have arrived, counted on both sides of the decoder. A value: no I/O.
///
/// The decoder keeps a head until it is whole, even where `X:` is followed by endless spaces, and skips whatever a
/// chunk's header holds. So bytes are counted before it, and its results behind it.
struct RequestProgress {
    private enum Part {
        case head
        /// In a body of announced length.
        case body(rest: Int)
        /// In a body of unknown length: its chunks, their framing, and trailers.
        case chunks
    }

    /// The longest head, and the most framing of a body's chunks, in bytes.
    private let mostFraming: Int
    private var part = Part.head
    /// Bytes of the incomplete head, or of the framing of the incomplete body.
    private var framing = 0
    /// Whether bytes of an incomplete request have arrived.
    private(set) var isArriving = false

    init(mostFraming: Int) { self.mostFraming = mostFraming }

    /// Whether it has become longer than any client's.
    var isTooLong: Bool { framing >= mostFraming }

    /// Whether a request's head was read, and its end was not.
    var isInBody: Bool { if case .head = part { false } else { true } }

    /// How many of these bytes to give to the decoder now, so that its results can be attributed: up to the end of a
    /// head, where one is in sight, and up to the end of a body.
    func slice(of bytes: ByteBufferView) -> Int {
        switch part {
        case .body(let rest) where rest > 0: min(rest, bytes.count)
        case .body, .chunks: min(Self.chunkStep, bytes.count)
        case .head:
            Self.headLength(bytes.prefix(mostFraming - framing)) ?? min(Self.step, bytes.count, mostFraming - framing)
        }
    }

    /// So many bytes are given to the decoder.
    mutating func receive(_ count: Int) {
        isArriving = true
        framing += count
    }

    /// The decoder has read a head.
    mutating func readHead(contentLength: Int?, isChunked: Bool) {
        framing = 0
        part = isChunked ? .chunks : .body(rest: contentLength ?? 0)
    }

    /// The decoder has read so many bytes of a body.
    mutating func readBody(_ count: Int) {
        framing = max(0, framing - count)
        if case .body(let rest) = part { part = .body(rest: max(0, rest - count)) }
    }

    /// The decoder has read a request's end.
    mutating func readEnd() {
        framing = 0
        part = .head
        isArriving = false
    }

    /// How many bytes the decoder is given at a time where no end is in sight.
    private static let step = 1024
    /// How many within chunks. Their end may be followed by further requests, as many as fit: a dozen.
    private static let chunkStep = 256

    /// Up to the first empty line; nil where there is none.
    private static func headLength(_ bytes: ByteBufferView) -> Int? {
        bytes.withUnsafeBytes { bytes in
            var isEmpty = false
            for (index, byte) in bytes.enumerated() {
                if byte == UInt8(ascii: "\n") {
                    if isEmpty { return index + 1 }
                    isEmpty = true
                } else if byte != UInt8(ascii: "\r") {
                    isEmpty = false
                }
            }
            return nil
        }
    }
}
