public import Logging
public import ServiceLifecycle
import Synchronization

/// Allows storing only once the database's schema has been checked: a receiver may start while the database is
/// unreachable, and the database that comes back may have another schema.
///
/// Its states:
/// - closed: no check yet, or the schema did not fit. Can transition to: open.
/// - open: the schema fits. Final: migrations take care of a schema that changes under a running program.
public final class SchemaGate: Service {
    /// The schema has not been found to fit; nothing may be stored.
    public struct Closed: Error, CustomStringConvertible {
        /// Why, in one line.
        public let description: String
    }

    private struct State {
        var isOpen: Bool
        var why: String?
    }

    private let misfit: @Sendable () async throws -> String?
    private let interval: Duration
    private let logger: Logger
    private let state: Mutex<State>

    /// A gate.
    /// - Parameters:
    ///   - isOpen: whether the schema was found to fit already.
    ///   - interval: between two checks while it is closed.
    ///   - misfit: the check: nil where the schema fits, otherwise why not, for people; throws where the database is
    ///     unreachable.
    public init(
        isOpen: Bool = false, interval: Duration = .seconds(1), logger: Logger,
        misfit: @escaping @Sendable () async throws -> String?
    ) {
        state = Mutex(State(isOpen: isOpen))
        self.interval = interval
        self.logger = logger
        self.misfit = misfit
    }

    /// A gate that is open from the beginning.
    public static func open(logger: Logger) -> SchemaGate { SchemaGate(isOpen: true, logger: logger) { nil } }

    /// Why nothing can be stored, for people; nil if it is open.
    public var whyClosed: String? {
        state.withLock { $0.isOpen ? nil : $0.why ?? "the database's schema has not been seen yet" }
    }

    /// Returns if it is open, or if a check opens it.
    /// - Throws: ``Closed``, or what the check threw.
    public func pass() async throws {
        if state.withLock(\.isOpen) { return }
        let why = try await misfit()
        let isNews = state.withLock { state in
            defer { (state.isOpen, state.why) = (why == nil, why) }
            return state.why != why
        }
        guard let why else { return }
        if isNews { logger.error("The schema does not fit; answering 503 until it does", metadata: ["why": "\(why)"]) }
        throw Closed(description: why)
    }

    /// Checks until it is open, then waits for graceful shutdown.
    public func run() async throws {
        await repeatUntilShutdown(pause: { self.whyClosed == nil ? .seconds(3600) : self.interval }) {
            // The pool reports an unreachable database.
            if self.whyClosed != nil { try? await self.pass() }
        }
    }
}
