import AppStoreServerAPI
import Base
import Synchronization

@testable import Simulation

/// Asks a shop of the stand-in without a network, and counts the questions.
final class ShopTransport: AppStoreTransport {
    private let store: SimulatedAppStore
    private let count = Mutex(0)

    init(_ store: SimulatedAppStore) { self.store = store }

    /// How often it was asked.
    var questions: Int { count.withLock(\.self) }

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        count.withLock { $0 += 1 }
        let rest = request.url.drop { $0 != "/" }.dropFirst(2)
        let call = Call(
            method: request.method.rawValue, target: String(rest.drop { $0 != "/" }),
            authority: String(rest.prefix { $0 != "/" }), authorization: nil, body: request.body ?? [])
        do throws(Refusal) {
            let answer = try await ServerAPI(store: store).answer(call)
            return TransportAnswer(status: answer.status, body: Array((answer.value?.text ?? "").utf8))
        } catch {
            let body: JSONValue = .members([
                "errorCode": error.code.map(JSONValue.integer), "errorMessage": .string(error.message),
            ])
            return TransportAnswer(status: error.status, body: Array(body.text.utf8))
        }
    }
}
