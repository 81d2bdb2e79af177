import AppStorePayloads
import Base

/// The pages of a list, each asked for when it is wanted: nothing but the present one is held.
///
/// Where Apple's token for the next page has expired, the list is begun again: pages that were seen come once more. Readers have to
/// take them twice (everything in them is signed, and counts once). A list that goes on for ever is given up, see ``AnswerBounds``.
public struct Pages<Answer: AnswerPage>: Sendable {
    /// How often one list is begun again before it is given up.
    public static var mostRestarts: Int { 3 }

    /// How often this one was.
    public private(set) var restarts = 0

    private let client: AppStoreClient
    private let first: ServerRequest<Answer>
    private let priority: RateSchedule.Priority
    private var environment: Environment?
    private var request: ServerRequest<Answer>?
    private var count = 0
    private var length = 0

    init(
        _ client: AppStoreClient, _ request: ServerRequest<Answer>, _ environment: Environment?,
        _ priority: RateSchedule.Priority
    ) {
        self.client = client
        first = request
        self.request = request
        self.environment = environment
        self.priority = priority
    }

    /// The next page, and which environment gave it; nil after the last.
    ///
    /// - Throws: ``AppStoreFailure``, or `CancellationError`.
    public mutating func next() async throws -> AppStoreClient.Answered<Answer>? {
        while let asked = request {
            do {
                let answered = try await client.ask(asked, in: environment, priority: priority)
                // The environment that gave the first page gives them all.
                environment = answered.environment
                do {
                    try count(answered, of: asked.endpoint)
                    request = try asked.following(answered.value)
                } catch {
                    throw AppStoreFailure(
                        reason: error.reason, endpoint: asked.endpoint, environment: answered.environment, attempts: 1)
                }
                return answered
            } catch let failure as AppStoreFailure {
                guard case .apple(let code) = failure.reason, code.behaviour == .beginAgain,
                    restarts < Self.mostRestarts
                else { throw failure }
                restarts += 1
                request = first
            }
        }
        return nil
    }

    private mutating func count(
        _ answered: AppStoreClient.Answered<Answer>, of endpoint: AppleEndpoint
    ) throws(AnswerFault) {
        count += 1
        length += answered.length
        guard count < endpoint.mostPages || !answered.value.hasMore else {
            throw .unreadable("it goes on after \(endpoint.mostPages) pages")
        }
        guard length <= endpoint.mostBytes else {
            throw .unreadable("its pages take more than \(endpoint.mostBytes >> 20) MiB")
        }
    }
}
