import HTTPTypes
public import Hummingbird
public import NIOCore

/// Why a request's body is refused.
public enum BodyRefusal: Error, Sendable {
    /// It is longer than this many bytes, or announces more.
    case tooLarge(limit: Int)
    /// It broke off.
    case incomplete
    /// Unanswered requests hold as many bytes as they may; the sender should retry.
    case busy

    /// The `Retry-After` for a sender that should retry, in whole seconds.
    static let retryAfter = "5"

    /// The answer. The connection ends with it: the rest of such a body is useless.
    public var problem: HTTPProblem {
        switch self {
        case .tooLarge(let limit):
            HTTPProblem(.contentTooLarge, "more than \(limit) bytes", [.connection: "close"])
        case .incomplete:
            HTTPProblem(.badRequest, "the body did not arrive whole", [.connection: "close"])
        case .busy:
            HTTPProblem(
                .serviceUnavailable, "as much as may wait is waiting",
                [.connection: "close", .retryAfter: Self.retryAfter])
        }
    }
}

extension Request {
    /// The whole body, of at most `limit` bytes.
    public func wholeBody(upTo limit: Int) async throws(BodyRefusal) -> ByteBuffer {
        _ = try announcedLength(upTo: limit)
        do {
            return try await body.collect(upTo: limit)
        } catch {
            throw BodyRefusal(error, limit: limit)
        }
    }

    /// The whole body, of at most `limit` bytes; a long one only once there is room for it.
    ///
    /// One array of the announced length takes it: collecting and copying would hold it three times.
    /// - Parameters:
    ///   - short: the longest body that is read at once, in bytes.
    ///   - room: called once for a longer one, before more of it than that is read, with the most bytes that it may have;
    ///     throws where there is no room.
    public func wholeBody(
        upTo limit: Int, short: Int, room: (Int) async throws(BodyRefusal) -> Void
    ) async throws(BodyRefusal) -> [UInt8] {
        var bytes: [UInt8] = []
        var hasRoom = false
        if let length = try announcedLength(upTo: limit) {
            if length > short {
                try await room(length)
                hasRoom = true
            }
            bytes.reserveCapacity(length)
        }
        var parts = body.makeAsyncIterator()
        while true {
            let part: ByteBuffer?
            do { part = try await parts.next() } catch { throw BodyRefusal(error, limit: limit) }
            guard let part else { return bytes }
            let count = bytes.count + part.readableBytes
            guard count <= limit else { throw .tooLarge(limit: limit) }
            if !hasRoom, count > short {
                // Its length is not announced.
                try await room(limit)
                hasRoom = true
                bytes.reserveCapacity(limit)
            }
            bytes.append(contentsOf: part.readableBytesView)
        }
    }

    /// The length that the head announces, which refuses a long body before a byte of it is read; nil where it announces none.
    private func announcedLength(upTo limit: Int) throws(BodyRefusal) -> Int? {
        let length = headers[.contentLength].flatMap(Int.init)
        if let length, length > limit { throw .tooLarge(limit: limit) }
        return length
    }
}

extension BodyRefusal {
    /// What an error of reading says of the body.
    fileprivate init(_ error: any Error, limit: Int) {
        switch error {
        case is NIOTooManyBytesError: self = .tooLarge(limit: limit)
        case RequestRefusal.busy: self = .busy
        default: self = .incomplete
        }
    }
}
