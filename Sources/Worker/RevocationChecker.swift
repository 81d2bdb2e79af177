public import AppStorePayloads
public import AppStoreVerification
public import Logging

/// Asks responders what a verifier's register wants to know, each certificate once, and never for long.
public struct RevocationChecker: Sendable {
    /// Posts a request to a responder's address and returns its answer, both in DER.
    public typealias Ask = @Sendable (_ request: [UInt8], _ responder: String) async throws -> [UInt8]

    private let register: RevocationRegister
    private let timeout: Duration
    private let clock: @Sendable () -> Timestamp
    private let ask: Ask
    private let logger: Logger

    /// After a failure nobody is asked about that certificate for so long, in seconds: a responder that hangs holds up one
    /// batch in this time, by the timeout, and not each one.
    private static let holdOff: Int64 = 30

    /// A checker.
    /// - Parameters:
    ///   - timeout: how long a responder may take.
    ///   - clock: the same as the verifier's.
    public init(
        register: RevocationRegister, timeout: Duration = .seconds(3), clock: @escaping @Sendable () -> Timestamp,
        logger: Logger, ask: @escaping Ask
    ) {
        self.register = register
        self.timeout = timeout
        self.clock = clock
        self.logger = logger
        self.ask = ask
    }

    /// Asks what is open, all at once, and notes what comes of it; returns whether anything was open.
    @discardableResult
    public func askOpenQuestions() async -> Bool {
        let questions = register.takeQuestions()
        await withTaskGroup { group in
            for question in questions { group.addTask { await settle(question) } }
        }
        return !questions.isEmpty
    }

    private func settle(_ question: OCSPQuestion) async {
        do {
            let der = try await limited { try await ask(question.request, question.responders[0]) }
            register.note(try OCSPAnswer(der, to: question, at: clock()), to: question)
        } catch {
            let why =
                (error as? OCSPAnswer.Refusal).map { "of the responder's answer, \($0)" } ?? "the responder is away"
            logger.warning(
                "Could not learn whether a certificate was revoked; what it signed is tried again later",
                metadata: ["responder": "\(question.responders[0])", "error": "\(why)"])
            register.noteFailure(why, to: question, until: clock().adding(seconds: Self.holdOff))
        }
    }

    private struct TookTooLong: Error {}

    private func limited(_ work: @escaping @Sendable () async throws -> [UInt8]) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask(operation: work)
            group.addTask { [timeout] in
                try await Task.sleep(for: timeout)
                throw TookTooLong()
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw TookTooLong() }
            return first
        }
    }
}
