import AppStorePayloads
import Base
import Synchronization

@testable import AppStoreServerAPI

/// Answers out of a list, one request after the other, and keeps what was asked.
final class ScriptedTransport: AppStoreTransport {
    /// What was asked, and when.
    struct Asked: Sendable {
        let request: TransportRequest
        let instant: Timestamp

        /// Which environment's host it was sent to.
        var environment: Environment { request.url.contains("storekit-sandbox") ? .sandbox : .production }
    }

    private let clock: JumpingClock
    private let script: Mutex<[Result<TransportAnswer, TransportFault>]>
    private let log = Mutex<[Asked]>([])

    init(_ clock: JumpingClock, _ script: [Result<TransportAnswer, TransportFault>]) {
        self.clock = clock
        self.script = Mutex(script)
    }

    /// Everything that was asked.
    var asked: [Asked] { log.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        log.withLock { $0.append(Asked(request: request, instant: clock.now())) }
        // A request that the script does not have is an error of the test.
        return try script.withLock { $0.isEmpty ? .failure(.notConnected) : $0.removeFirst() }.get()
    }
}

extension Result where Success == TransportAnswer, Failure == TransportFault {
    /// An answer with this text.
    static func answer(_ status: Int, _ text: String = "{}", retryAfter: String? = nil) -> Self {
        .success(TransportAnswer(status: status, retryAfter: retryAfter, body: Array(text.utf8)))
    }

    /// An error of Apple's; its first three digits are the status.
    static func code(_ code: Int64) -> Self {
        answer(Int(code / 10_000), #"{"errorCode":\#(code),"errorMessage":"…"}"#)
    }
}
