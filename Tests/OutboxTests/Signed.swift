import Crypto
import EvidenceStore
import Foundation
import Simulation
import Stories

/// What Apple's stand-in signs, to pack.
enum Signed {
    static let authority = Task { try SimulatedAuthority.generate() }

    /// Notifications of every kind that Apple sends.
    static func everyKind(by authority: SimulatedAuthority) -> [[UInt8]] {
        Story.catalogue.flatMap { $0.performed().notifications }.map { Array($0.signed(by: authority).utf8) }
    }

    /// A subscription's purchase.
    static func purchase(by authority: SimulatedAuthority) -> [UInt8] {
        var subscriber = SimulatedSubscriber(lane: 1, seed: 1)
        // 2026-02-01T00:00:00Z
        subscriber.buy(.premiumMonthly, at: 1_769_904_000_000)
        return Array(subscriber.takeNotifications()[0].signed(by: authority).utf8)
    }

    /// The first segment.
    static func header(of jws: [UInt8]) -> SignatureHeader {
        let text = Array(jws.prefix { $0 != UInt8(ascii: ".") })
        return SignatureHeader(digest: Array(SHA256.hash(data: text)), text: text)
    }
}
