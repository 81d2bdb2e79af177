public import Logging
public import ServiceLifecycle
import Synchronization

/// Lets nothing be stored until the database's schema has been seen to fit: a receiver may start while the database is
/// away, and what comes back need not be what it was built for.
///
/// Its states:
/// - closed: nobody has looked, or the schema did not fit. Can transition to: open.
/// - open: the schema fits. Stays so: a schema that is changed under a running program is the migrations' business.
public final class SchemaGate: Service {
    /// The schema was not seen to fit; nothing may be stored.
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
    ///   - isOpen: whether the schema was seen to fit already.
    ///   - interval: between two looks while it is closed.
    ///   - misfit: looks: nil where the schema fits, else why it does not, for people; throws where the database is away.
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

    /// Returns if it is open, or if a look shows that it can be.
    /// - Throws: ``Closed``, or what the look threw.
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

    /// Looks until it is open, and stays until graceful shutdown.
    public func run() async throws {
        await repeatUntilShutdown(pause: { self.whyClosed == nil ? .seconds(3600) : self.interval }) {
            // The pool reports a database that is away.
            if self.whyClosed != nil { try? await self.pass() }
        }
    }
}
