import AppStorePayloads
package import AppStoreVerification
package import Base
package import Logging

/// Asks responders what a verifier's cache wants to know, each certificate once, and never for long.
package struct RevocationChecker: Sendable {
    /// Posts a request to a responder's address and returns its answer, both in DER.
    package typealias Ask = @Sendable (_ request: [UInt8], _ responder: String) async throws -> [UInt8]

    private let cache: RevocationCache
    private let timeout: Duration
    private let clock: @Sendable () -> Timestamp
    private let ask: Ask
    private let logger: Logger

    /// For so many seconds after a failure no responder is asked about that certificate: one that hangs delays a single
    /// batch in this time, by the timeout, and not each one.
    private static let holdOff: Int64 = 30
    /// Responders asked about one certificate, one after the other; Apple names one.
    private static let mostAsked = 3

    /// A checker.
    /// - Parameters:
    ///   - timeout: how long each responder may take.
    ///   - clock: the same as the verifier's.
    package init(
        cache: RevocationCache, timeout: Duration = .seconds(3), clock: @escaping @Sendable () -> Timestamp,
        logger: Logger, ask: @escaping Ask
    ) {
        self.cache = cache
        self.timeout = timeout
        self.clock = clock
        self.logger = logger
        self.ask = ask
    }

    /// Asks what is open, all at once, and notes what comes of it; returns whether anything was open.
    /// - Parameter deadline: when waiting ends; nil for no limit. What is not answered by then stays open, and is asked
    ///   again: it says nothing about the responder.
    @discardableResult
    package func sendPendingRequests(until deadline: ContinuousClock.Instant? = nil) async -> Bool {
        let requests = cache.takeRequests()
        await withTaskGroup { group in
            for request in requests { group.addTask { await settle(request, until: deadline) } }
        }
        return !requests.isEmpty
    }

    /// Asks the responders that the certificate names, in their order, until one gives an answer that counts.
    private func settle(_ request: OCSPRequest, until deadline: ContinuousClock.Instant?) async {
        var failures: [(responder: String, why: String)] = []
        for responder in request.responders.prefix(Self.mostAsked) {
            let end = ContinuousClock.now + timeout
            if let deadline, deadline <= .now { return }
            do {
                let der = try await withDeadline(min(end, deadline ?? end)) {
                    try await ask(request.request, responder)
                }
                guard let der else { throw TookTooLong() }
                cache.note(try OCSPResponse(der, to: request, at: clock()), to: request)
                return
            } catch {
                // The caller has stopped waiting, and the responder may be well: the next caller asks it.
                if Task.isCancelled || deadline.map({ $0 <= .now && $0 < end }) ?? false { return }
                let why =
                    (error as? OCSPResponse.Refusal).map { "of the responder's answer, \($0)" }
                    ?? "the responder is away"
                failures.append((responder, why))
            }
        }
        logger.warning(
            "Could not learn whether a certificate was revoked; what it signed is tried again later",
            metadata: [
                "responder": "\(failures.map(\.responder).joined(separator: " "))",
                "error": "\(failures.map(\.why).joined(separator: "; "))",
            ])
        cache.noteFailure(
            failures.last?.why ?? "no responder can be asked", to: request, until: clock().adding(seconds: Self.holdOff)
        )
    }

    private struct TookTooLong: Error {}
}
