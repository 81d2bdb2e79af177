import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import Testing

@Suite("A certificate chain")
struct CertificateChainTests {
    private let root: SimulatedCertificate
    private let intermediate: SimulatedCertificate
    private let leaf: SimulatedCertificate

    init() throws {
        root = try SimulatedCertificate(.root)
        intermediate = try SimulatedCertificate(.intermediate, issuer: root)
        leaf = try SimulatedCertificate(.leaf, issuer: intermediate)
    }

    /// What becomes of a subscriber's notification that this chain signs, where this root is trusted.
    private func code(
        _ chain: [SimulatedCertificate], trusting root: SimulatedCertificate? = nil
    ) throws -> VerificationCode? {
        let authority = try SimulatedAuthority(chain: chain)
        let trusted = Fingerprint(of: (root ?? self.root).der)
        let verifier = Subscriber.verifier(trusting: authority) { $0.trustedRoots = TrustedRoots(appStore: [trusted]) }
        let jws = Subscriber(authority).jws
        let result = failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) }
        let cached = verifier.chainCache.statistics.count
        #expect(
            cached == (result == nil || result == .certificateNotValidAt ? 1 : 0), "only valid chains are remembered")
        return result
    }

    private func changed(
        _ shape: CertificateShape, _ change: (inout CertificateShape) -> Void
    ) -> CertificateShape {
        var shape = shape
        change(&shape)
        return shape
    }

    @Test("of Apple's shape is accepted")
    func valid() throws { #expect(try code([leaf, intermediate, root]) == nil) }

    @Test("under another root is refused, even one of the same name")
    func otherRoot() throws {
        let twin = try SimulatedCertificate(.root)
        #expect(try code([leaf, intermediate, root], trusting: twin) == .untrustedRoot)
        let twinIntermediate = try SimulatedCertificate(.intermediate, issuer: twin)
        let twinLeaf = try SimulatedCertificate(.leaf, issuer: twinIntermediate)
        #expect(try code([twinLeaf, twinIntermediate, twin]) == .untrustedRoot)
        // A stranger's certificates with the trusted root put at their end.
        #expect(try code([twinLeaf, twinIntermediate, root]) == .invalidChain)
        // The trusted key in another certificate is another certificate.
        #expect(try code([leaf, intermediate, root.reissued(.root, issuer: nil)]) == .untrustedRoot)
    }

    @Test("with a certificate that somebody else signed is refused")
    func replaced() throws {
        let stranger = try SimulatedCertificate(.intermediate, issuer: root, signer: SimulatedCertificate(.root))
        #expect(try code([leaf, stranger, root]) == .invalidChain)
        let forged = try SimulatedCertificate(
            .leaf, issuer: intermediate, signer: SimulatedCertificate(.intermediate, issuer: root))
        #expect(try code([forged, intermediate, root]) == .invalidChain)
        // The right key, but another name for who it belongs to.
        let stray = try SimulatedCertificate(.leaf, issuer: root, signer: intermediate)
        #expect(try code([stray, intermediate, root]) == .invalidChain)
        let selfSigned = try SimulatedCertificate(.leaf)
        #expect(try code([selfSigned, intermediate, root]) == .invalidChain)
    }

    @Test("with a certificate repeated or in another order is refused")
    func repeated() throws {
        #expect(try code([leaf, root, root]) == .invalidChain)
        #expect(try code([leaf, leaf, root]) == .invalidChain)
        // A root that could stand in both places, so that nothing but the repetition is wrong.
        let marked = changed(.root) { $0.extensions.append(.init(oid: CertificateShape.intermediateMarker)) }
        let both = try SimulatedCertificate(marked)
        let below = try SimulatedCertificate(.leaf, issuer: both)
        #expect(try code([below, both, both], trusting: both) == .invalidChain)
        let twice = try both.reissued(marked, issuer: both)
        #expect(twice.der != both.der)
        #expect(try code([below, twice, both], trusting: both) == .invalidChain)
        // The same name and key in another certificate is a repetition too.
        let again = try intermediate.reissued(.intermediate, issuer: root)
        let chain = [intermediate.der, again.der, root.der]
        let trusted: Set = [Fingerprint(of: root.der)]
        #expect(
            failure { () throws(VerificationFailure) in
                try CertificateChain(validating: chain, trustedRoots: trusted)
            } == .invalidChain)
    }

    @Test("without Apple's markers is refused: any certificate that Apple issues has the rest")
    func markers() throws {
        let plain = try SimulatedCertificate(changed(.leaf) { $0.extensions = [] }, issuer: intermediate)
        #expect(try code([plain, intermediate, root]) == .missingMarkerOID)
        let swapped = try SimulatedCertificate(
            changed(.leaf) { $0.extensions = [.init(oid: CertificateShape.intermediateMarker)] }, issuer: intermediate)
        #expect(try code([swapped, intermediate, root]) == .missingMarkerOID)
        let unmarked = try SimulatedCertificate(changed(.intermediate) { $0.extensions = [] }, issuer: root)
        #expect(try code([SimulatedCertificate(.leaf, issuer: unmarked), unmarked, root]) == .missingMarkerOID)
    }

    @Test("whose intermediate is no authority, or may not sign certificates, is refused")
    func intermediateRights() throws {
        for change: (inout CertificateShape) -> Void in [
            { $0.authority = .no }, { $0.authority = .unstated }, { $0.maySignCertificates = false },
            {
                $0.maySignCertificates = false
                $0.maySignData = true
            },
        ] {
            let weak = try SimulatedCertificate(changed(.intermediate, change), issuer: root)
            #expect(try code([SimulatedCertificate(.leaf, issuer: weak), weak, root]) == .invalidChain)
        }
        // An end entity of Apple's used as an issuer.
        let marked = changed(.leaf) { $0.extensions.append(.init(oid: CertificateShape.intermediateMarker)) }
        let endEntity = try SimulatedCertificate(marked, issuer: root)
        #expect(try code([SimulatedCertificate(.leaf, issuer: endEntity), endEntity, root]) == .invalidChain)
    }

    @Test("whose root allows no authority below it, or is none, is refused")
    func rootRights() throws {
        for change: (inout CertificateShape) -> Void in [
            { $0.authority = .yes(pathLength: 0) }, { $0.authority = .no }, { $0.maySignCertificates = false },
        ] {
            let weak = try SimulatedCertificate(changed(.root, change))
            let below = try SimulatedCertificate(.intermediate, issuer: weak)
            #expect(
                try code([SimulatedCertificate(.leaf, issuer: below), below, weak], trusting: weak) == .invalidChain)
        }
        let wide = try SimulatedCertificate(changed(.root) { $0.authority = .yes(pathLength: 1) })
        let below = try SimulatedCertificate(.intermediate, issuer: wide)
        #expect(try code([SimulatedCertificate(.leaf, issuer: below), below, wide], trusting: wide) == nil)
    }

    @Test("whose leaf is an authority, may not sign data, or has another curve is refused")
    func leafRights() throws {
        for change: (inout CertificateShape) -> Void in [
            { $0.authority = .yes(pathLength: nil) }, { $0.maySignData = false },
            {
                $0.maySignData = false
                $0.maySignCertificates = true
            },
        ] {
            let weak = try SimulatedCertificate(changed(.leaf, change), issuer: intermediate)
            #expect(try code([weak, intermediate, root]) == .invalidChain)
        }
        let large = try SimulatedCertificate(changed(.leaf) { $0.curve = .p384 }, issuer: intermediate)
        let trusted: Set = [Fingerprint(of: root.der)]
        let chain = [large.der, intermediate.der, root.der]
        #expect(
            failure { () throws(VerificationFailure) in
                try CertificateChain(validating: chain, trustedRoots: trusted)
            } == .invalidChain)
    }

    @Test("with a critical extension that is not known, or with name constraints, is refused")
    func extensions() throws {
        let unknown = CertificateShape.RawExtension(oid: [1, 3, 6, 1, 4, 1, 99_999, 1], isCritical: true)
        let strict = try SimulatedCertificate(changed(.leaf) { $0.extensions.append(unknown) }, issuer: intermediate)
        #expect(try code([strict, intermediate, root]) == .invalidChain)
        var harmless = unknown
        harmless.isCritical = false
        let lax = try SimulatedCertificate(changed(.leaf) { $0.extensions.append(harmless) }, issuer: intermediate)
        #expect(try code([lax, intermediate, root]) == nil)
        let constraints = CertificateShape.RawExtension(oid: [2, 5, 29, 30], value: [0x30, 0x00])
        let narrow = try SimulatedCertificate(
            changed(.intermediate) { $0.extensions.append(constraints) }, issuer: root)
        #expect(try code([SimulatedCertificate(.leaf, issuer: narrow), narrow, root]) == .invalidChain)
    }

    @Test("is judged at the payload's own date, to the second and at both ends", arguments: 0..<3)
    func window(index: Int) throws {
        let second = Timestamp(secondsSince1970: Subscriber.signedDate / 1000)
        func chain(from: Timestamp, to: Timestamp) throws -> [SimulatedCertificate] {
            var shapes: [CertificateShape] = [.leaf, .intermediate, .root]
            shapes[index].notBefore = from
            shapes[index].notAfter = to
            let root = try SimulatedCertificate(shapes[2])
            let intermediate = try SimulatedCertificate(shapes[1], issuer: root)
            return [try SimulatedCertificate(shapes[0], issuer: intermediate), intermediate, root]
        }
        // The notification and its parts are all signed within this one second.
        for (from, to, expected) in [
            (second, second, nil), (second.adding(seconds: 1), CertificateShape.latest, .certificateNotValidAt),
            (CertificateShape.earliest, second.adding(seconds: -1), .certificateNotValidAt),
        ] as [(Timestamp, Timestamp, VerificationCode?)] {
            let chain = try chain(from: from, to: to)
            #expect(try code(chain, trusting: chain[2]) == expected)
        }
        let backwards = try chain(from: second, to: second.adding(seconds: -1))
        #expect(try code(backwards, trusting: backwards[2]) == .invalidChain)
    }

    @Test("of a part is judged at the part's own date")
    func partWindow() throws {
        let young = try SimulatedCertificate(
            changed(.leaf) { $0.notBefore = Timestamp(secondsSince1970: Subscriber.signedDate / 1000) },
            issuer: intermediate)
        let authority = try SimulatedAuthority(chain: [young, intermediate, root])
        let verifier = Subscriber.verifier(trusting: authority)
        var subscriber = Subscriber(authority)
        #expect(try verifier.verifyNotification(subscriber.jws).transaction != nil)
        subscriber.transaction["signedDate"] = .raw("\(Subscriber.signedDate - 1000)")
        let jws = subscriber.jws
        #expect(
            failure { () throws(VerificationFailure) in try verifier.verifyNotification(jws) } == .certificateNotValidAt
        )
    }

    @Test("that is valid tells what a revocation check would ask for")
    func pieces() throws {
        let chain = try CertificateChain(
            validating: [leaf.der, intermediate.der, root.der], trustedRoots: [Fingerprint(of: root.der)])
        #expect(chain.leaf.responders == ["http://ocsp.storehook.invalid/ocsp03-simulators602"])
        #expect(!chain.leaf.serialNumber.isEmpty)
        #expect(chain.intermediate.subject.first == 0x30)
        #expect(chain.intermediate.publicKey.count == 97)
        #expect(chain.leaf.notAfter == CertificateShape.latest.adding(milliseconds: 999))
    }
}
