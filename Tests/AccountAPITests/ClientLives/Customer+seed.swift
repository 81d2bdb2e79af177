@testable import Simulation

extension Customer {
    /// A customer whose life a seed decides, whatever other customers there are.
    init(_ id: String, by seed: UInt64, token: String, bornAt birth: Milliseconds, in app: SimulatedApp) {
        self.init(
            id: id, joined: birth, isLively: true,
            life: SimulatedLife(
                SimulatedSubscriber(app: app, appAccountToken: token, lane: Int(seed), seed: seed),
                random: SeededGenerator(seed: seed &+ 1_000_003), habits: nil))
    }
}
