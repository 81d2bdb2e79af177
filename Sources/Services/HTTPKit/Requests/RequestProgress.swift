import NIOCore

/// How far a connection's requests have come, counted on both sides of the decoder. A value: no I/O.
///
/// The decoder keeps a head until it is whole, also where `X:` is followed by spaces without an end, and reads over
/// whatever a chunk's header holds. So bytes are counted before it, and what they have become behind it.
struct RequestProgress {
    private enum Part {
        case head
        /// Of a body that was announced with its length.
        case body(rest: Int)
        /// Of a body whose end is not known: its chunks, what frames them, and trailers.
        case chunks
    }

    /// The longest that a head may be, and all that frames a body's chunks, in bytes.
    private let mostFraming: Int
    private var part = Part.head
    /// Of the head that is not whole, or of the framing of the body that is not.
    private var framing = 0
    /// Whether bytes of a request have come that is not whole yet.
    private(set) var isArriving = false

    init(mostFraming: Int) { self.mostFraming = mostFraming }

    /// Whether it has become longer than anybody's.
    var isTooLong: Bool { framing >= mostFraming }

    /// Whether a request's head was read, and not yet its end.
    var isInBody: Bool { if case .head = part { false } else { true } }

    /// How many of these bytes the decoder may be given now, so that what it makes of them can be told apart: up to the end of a
    /// head, where one is to be seen, and up to the end of a body.
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

    /// It has read a head.
    mutating func readHead(contentLength: Int?, isChunked: Bool) {
        framing = 0
        part = isChunked ? .chunks : .body(rest: contentLength ?? 0)
    }

    /// It has read so many bytes of a body.
    mutating func readBody(_ count: Int) {
        framing = max(0, framing - count)
        if case .body(let rest) = part { part = .body(rest: max(0, rest - count)) }
    }

    /// It has read a request's end.
    mutating func readEnd() {
        framing = 0
        part = .head
        isArriving = false
    }

    /// What the decoder is given at a time where no end is to be seen.
    private static let step = 1024
    /// The same within chunks. Their end may be followed by further requests, as many as fit: a dozen.
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
