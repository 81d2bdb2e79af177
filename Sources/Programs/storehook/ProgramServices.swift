import HTTPKit
import Logging
import Operations
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The services of a long-running program, in the order of starting; they stop in reverse.
///
/// If one of them fails, or ends before it is stopped, the program ends: a supervisor does not restart a process that
/// is only half alive.
struct ProgramServices {
    /// One of them.
    struct Member: Sendable {
        /// What it is, for people.
        let name: String
        /// It runs until graceful shutdown.
        var service: any Service
        /// Where it listens: the option that chooses another port.
        let portOption: String?
    }

    /// In the order of starting.
    var members: [Member] = []
    private let endDeadline: Duration

    /// None yet.
    /// - Parameter endDeadline: how long the others may take to end once one has failed. A statement's deadline fits in.
    init(endDeadline: Duration = .seconds(40)) { self.endDeadline = endDeadline }

    /// Adds one to be started after those that are here.
    mutating func add(_ name: String, _ service: any Service, portOption: String? = nil) {
        members.append(Member(name: name, service: service, portOption: portOption))
    }

    /// Makes the services from a place on begin only when the database was seen.
    mutating func begin(from first: Int, after start: DatabaseStart) {
        for place in members.indices.dropFirst(first) { members[place].service = start.before(members[place].service) }
        members.insert(Member(name: "the wait for the database", service: start, portOption: nil), at: first)
    }

    /// Runs them until one of the signals, or the failure of one.
    /// - Parameter leave: called when one has failed and another one does not end; ends the process.
    /// - Throws: `CommandFailure`, in one line: which has failed first, why, and what to do where that is known.
    func run(
        logger: Logger, until signals: [UnixSignal] = [.sigterm, .sigint],
        leave: @escaping @Sendable (CommandFailure) -> Void = { Program.leave(after: $0) }
    ) async throws {
        let first = FirstFailure { [endDeadline] failure in
            Task {
                try await Task.sleep(for: endDeadline)
                leave(failure)
            }
        }
        defer { first.settle() }
        // The group would log the failure that this function throws.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .critical)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: members.map { .init(service: Watched(member: $0, first: first)) },
                gracefulShutdownSignals: signals, logger: quiet))
        do {
            try await group.run()
        } catch {
            throw first.failure ?? error
        }
    }
}

/// A service whose end is noted.
private struct Watched: Service, CustomStringConvertible {
    let member: ProgramServices.Member
    let first: FirstFailure

    /// The group prints each of its services; without this, all that hangs on one: pools, settings and metrics.
    var description: String { member.name }

    func run() async throws {
        do {
            try await member.service.run()
        } catch {
            first.note(failure(error))
            throw error
        }
        guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return }
        let failure = CommandFailure("\(member.name) has ended by itself")
        first.note(failure)
        throw failure
    }

    private func failure(_ error: any Error) -> CommandFailure {
        if let failure = error as? CommandFailure { return failure }
        if let failure = error as? ListenFailure, let option = member.portOption {
            return CommandFailure("cannot listen on " + PortAdvice(failure, option: option).text)
        }
        return CommandFailure("\(member.name) has failed: \(error)")
    }
}

/// The failure that ends a program. Later failures, of services that are cancelled because of it, are ignored.
private final class FirstFailure: Sendable {
    private struct State {
        var failure: CommandFailure?
        var guardian: Task<Void, any Error>?
    }
    private let state = Mutex(State())
    private let onFirst: @Sendable (CommandFailure) -> Task<Void, any Error>

    init(_ onFirst: @escaping @Sendable (CommandFailure) -> Task<Void, any Error>) { self.onFirst = onFirst }

    var failure: CommandFailure? { state.withLock(\.failure) }

    func note(_ failure: CommandFailure) {
        state.withLock { state in
            guard state.failure == nil else { return }
            state.failure = failure
            state.guardian = onFirst(failure)
        }
    }

    /// All have ended.
    func settle() { state.withLock { $0.guardian?.cancel() } }
}
