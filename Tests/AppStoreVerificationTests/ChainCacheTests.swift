import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import Testing

@Suite("The chain cache")
struct ChainCacheTests {
    @Test("is asked once for a notification with two parts of the same header")
    func oneLookup() throws {
        let authority = try SimulatedAuthority.generate()
        let verifier = Subscriber.verifier(trusting: authority)
        let jws = Subscriber(authority).jws
        for _ in 0..<5 { _ = try verifier.verifyNotification(jws) }
        #expect(verifier.chainCache.statistics.misses == 1)
        #expect(verifier.chainCache.statistics.hits == 4)
    }

    @Test("holds a chain once, however many headers it is written into")
    func headerVariants() throws {
        let authority = try SimulatedAuthority.generate()
        let verifier = Subscriber.verifier(trusting: authority)
        let payload = Subscriber(authority).payload.bytes
        _ = try verifier.verifyNotification(Subscriber(authority).jws)
        let header = SimulatedAuthority.headerText(alg: "ES256", certificates: authority.chain.map(\.der))
        for spaces in 1...50 {
            let variant = header + [UInt8](repeating: 0x20, count: spaces)
            _ = try verifier.verifyNotification(Array(authority.sign(payload, header: variant).utf8))
        }
        // Each time three lookups: the strange header, and the usual one of the two parts, which is not the strange one.
        #expect(verifier.chainCache.statistics == .init(hits: 150, misses: 1, count: 1, shortCuts: 1))
    }

    @Test("stays within its bound and lets go of the chain unused for longest")
    func eviction() throws {
        let root = try SimulatedCertificate(.root)
        let intermediate = try SimulatedCertificate(.intermediate, issuer: root)
        let authorities = try (0..<3).map { _ in
            try SimulatedAuthority(chain: [SimulatedCertificate(.leaf, issuer: intermediate), intermediate, root])
        }
        let cache = ChainCache(capacity: 2)
        let verifier = Verifier(
            configuration: VerifierConfiguration(
                apps: [Subscriber.bundleId: nil], trustedRoots: [Fingerprint(of: root.der)]),
            chainCache: cache, clock: { Timestamp(millisecondsSince1970: Subscriber.signedDate) })
        func verify(_ index: Int) throws { _ = try verifier.verifyNotification(Subscriber(authorities[index]).jws) }
        try verify(0)
        try verify(1)
        try verify(0)
        #expect(cache.statistics == .init(hits: 1, misses: 2, evictions: 0, count: 2, shortCuts: 2))
        try verify(2)
        #expect(cache.statistics == .init(hits: 1, misses: 3, evictions: 1, count: 2, shortCuts: 2))
        try verify(0)
        #expect(cache.statistics == .init(hits: 2, misses: 3, evictions: 1, count: 2, shortCuts: 2))
        try verify(1)
        #expect(cache.statistics == .init(hits: 2, misses: 4, evictions: 2, count: 2, shortCuts: 2))
    }

    @Test("does not make a chain valid beyond its window")
    func window() throws {
        var shape = CertificateShape.leaf
        shape.notAfter = Timestamp(secondsSince1970: Subscriber.signedDate / 1000)
        let authority = try SimulatedAuthority.generate(leaf: shape)
        let verifier = Subscriber.verifier(trusting: authority)
        var subscriber = Subscriber(authority)
        _ = try verifier.verifyNotification(subscriber.jws)
        subscriber.notification["signedDate"] = .raw("\(Subscriber.signedDate + 1000)")
        let jws = subscriber.jws
        #expect(
            failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) } == .certificateNotValidAt
        )
    }
}
