import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import Testing

@Suite("A receipt's signature")
struct SignatureTests {
    @Test(
        "is Apple's over SHA-1 or SHA-256, with attributes or without, however the container is written",
        arguments: ReceiptSigner.Digest.allCases, ReceiptSigner.Form.allCases)
    func genuine(_ digest: ReceiptSigner.Digest, _ form: ReceiptSigner.Form) async throws {
        var signer = try await Shop.signer.value
        (signer.digest, signer.form) = (digest, form)
        for signsAttributes in [false, true] {
            signer.signsAttributes = signsAttributes
            let verified = try Shop.verifier(trusting: signer).verify(try Receipt(try signer.sign(Shop.receipt())))
            #expect(verified.bundleId == Shop.app.bundleId && verified.environment == .sandbox)
            #expect(verified.creationDate == Timestamp(millisecondsSince1970: Shop.now))
        }
    }

    @Test(
        "is that of certificates signed over SHA-1 as well, and of an elliptic key, each under a root that is trusted")
    func keys() throws {
        let old = try ReceiptSigner.rsa(signedWithSHA1: true)
        #expect(Shop.code(Shop.verifier(trusting: old), try old.sign(Shop.receipt())) == nil)
        let elliptic = ReceiptSigner(try SimulatedAuthority.generate().chain)
        #expect(Shop.code(Shop.verifier(trusting: elliptic), try elliptic.sign(Shop.receipt())) == nil)
        // The same certificates in another order: who signed is told by name.
        var shuffled = old
        shuffled.chain = [old.chain[0], old.chain[2], old.chain[1]]
        #expect(Shop.code(Shop.verifier(trusting: old), try shuffled.sign(Shop.receipt())) == nil)
    }

    @Test("of somebody else, over something else or of other certificates is refused, each with its code")
    func forged() async throws {
        let signer = try await Shop.signer.value
        let verifier = Shop.verifier(trusting: signer)
        func code(_ bytes: [UInt8]) -> VerificationCode? { Shop.code(verifier, bytes) }
        #expect(code(try Shop.elliptic().sign(Shop.receipt())) == .untrustedRoot)
        #expect(code(ReceiptSigner.unsigned(Shop.receipt().content)) == .malformed)
        for signsAttributes in [false, true] {
            var edited = signer
            edited.signsAttributes = signsAttributes
            var bytes = try edited.sign(Shop.receipt())
            let version = Array("ProductionSandbox".utf8)
            let place = try #require(bytes.indices.first { bytes[$0...].starts(with: version) })
            bytes[place + 10] ^= 1
            #expect(code(bytes) == .invalidSignature)
        }
        // A genuine chain around another signer's signature.
        var borrowed = try ReceiptSigner.rsa()
        borrowed.chain[1...] = signer.chain[1...]
        #expect([.invalidChain, .wrongChainLength].contains(code(try borrowed.sign(Shop.receipt()))))
        for count in [1, 2] {
            var short = signer
            short.chain = Array(signer.chain.prefix(count))
            #expect(code(try short.sign(Shop.receipt())) == .wrongChainLength, "\(count)")
        }
        var many = signer
        many.chain += [SimulatedCertificate](repeating: signer.chain[2], count: 6)
        #expect(code(try many.sign(Shop.receipt())) == .wrongChainLength)
    }

    @Test("under a trusted root is worth nothing without Apple's marks, and where a leaf acts as an authority")
    func marks() throws {
        for place in [1, 2] {
            let signer = try Shop.elliptic { if $1 == place { $0.extensions = [] } }
            #expect(
                Shop.code(Shop.verifier(trusting: signer), try signer.sign(Shop.receipt())) == .missingMarkerOID)
        }
        let signer = try Shop.elliptic { if $1 == 1 { $0.authority = .no } }
        #expect(Shop.code(Shop.verifier(trusting: signer), try signer.sign(Shop.receipt())) == .invalidChain)
    }

    @Test("is one signer's, over SHA-1 or SHA-256, and over one digest of the content where attributes are signed")
    func rules() async throws {
        let signer = try await Shop.signer.value
        let verifier = Shop.verifier(trusting: signer)
        var other = signer
        // SHA-384.
        other.claimedDigest = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02]
        #expect(Shop.code(verifier, try other.sign(Shop.receipt())) == .unsupportedAlgorithm)
        // Said of what was made over SHA-256 all the same: what it was made with is not guessed.
        other.claimedDigest = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
        #expect(Shop.code(verifier, try other.sign(Shop.receipt())) == .invalidSignature)
        var several = signer
        several.signers = 2
        let two = try several.sign(Shop.receipt())
        #expect(throws: ReceiptFault.notPKCS7) { try Receipt(two) }
        several.signers = 0
        #expect(Shop.code(verifier, try several.sign(Shop.receipt())) == .malformed)
        var attributes = signer
        attributes.signsAttributes = true
        attributes.messageDigests = 2
        let twice = try attributes.sign(Shop.receipt())
        #expect(throws: ReceiptFault.notPKCS7) { try Receipt(twice) }
        // A good signature over attributes that say nothing of the content.
        attributes.messageDigests = 0
        #expect(Shop.code(verifier, try attributes.sign(Shop.receipt())) == .invalidSignature)
    }

    @Test("is worth nothing where a certificate has a critical extension that nobody here knows")
    func criticalExtension() throws {
        for (isCritical, code) in [(false, nil), (true, .invalidChain)] as [(Bool, VerificationCode?)] {
            for place in 0...2 {
                let signer = try Shop.elliptic { shape, at in
                    if at == place { shape.extensions.append(.init(oid: [1, 2, 3, 4], isCritical: isCritical)) }
                }
                #expect(
                    Shop.code(Shop.verifier(trusting: signer), try signer.sign(Shop.receipt())) == code,
                    "\(place), \(isCritical)")
            }
        }
    }

    @Test("counts by the receipt's own date, also when its certificates are long over, and not by one in the future")
    func dates() throws {
        let start = Timestamp(millisecondsSince1970: Shop.now).adding(days: -800)
        let signer = try Shop.elliptic { shape, place in
            if place == 2 { (shape.notBefore, shape.notAfter) = (start, start.adding(days: 400)) }
        }
        let verifier = Shop.verifier(trusting: signer)
        func code(_ instant: Timestamp) throws -> VerificationCode? {
            Shop.code(verifier, try signer.sign(Shop.receipt(at: instant.millisecondsSince1970)))
        }
        #expect(try code(start.adding(days: 10)) == nil)
        #expect(try code(start.adding(days: -1)) == .certificateNotValidAt)
        #expect(try code(start.adding(days: 401)) == .certificateNotValidAt)
        let lasting = try Shop.elliptic()
        #expect(
            Shop.code(
                Shop.verifier(trusting: lasting), try lasting.sign(Shop.receipt(at: Shop.now + 600_000)))
                == .signedInFuture)
        var undated = Shop.receipt()
        undated.attributes.removeAll { $0.type == 12 }
        #expect(Shop.code(Shop.verifier(trusting: lasting), try lasting.sign(undated)) == .malformedPayload)
    }

    @Test("proves a receipt of an app, in an environment and under a root that are served together")
    func claims() async throws {
        let signer = try await Shop.signer.value
        let bytes = try signer.sign(Shop.receipt(.production))
        #expect(Shop.code(Shop.verifier(trusting: signer), bytes) == nil)
        #expect(Shop.code(Shop.verifier(trusting: signer, apps: ["com.example.other": 1]), bytes) == .wrongBundle)
        #expect(Shop.code(Shop.verifier(trusting: signer, environments: [.sandbox]), bytes) == .wrongEnvironment)
        let root = try #require(Fingerprint(signer.rootFingerprint))
        let sandboxOnly = Verifier(
            configuration: VerifierConfiguration(
                apps: [Shop.app.bundleId: Shop.app.appAppleId], environments: [.production, .sandbox],
                trustedRoots: TrustedRoots([.sandbox: [root]])),
            clock: { Timestamp(millisecondsSince1970: Shop.now) })
        #expect(Shop.code(sandboxOnly, bytes) == .untrustedRoot)
        for type in ["ProductionInternal", ""] {
            var odd = Shop.receipt()
            odd.attributes[0] = .text(0, type)
            #expect(Shop.code(Shop.verifier(trusting: signer), try signer.sign(odd)) == .wrongEnvironment)
        }
    }

    @Test("counts only once it is known that nobody revoked its certificates, where that is asked about")
    func revocation() async throws {
        let signer = try await Shop.signer.value
        let cache = RevocationCache()
        let verifier = Verifier(
            configuration: Shop.verifier(trusting: signer).configuration, revocation: cache,
            clock: { Timestamp(millisecondsSince1970: Shop.now) })
        #expect(Shop.code(verifier, try signer.sign(Shop.receipt())) == .revocationUnknown)
        // Of the leaf and of the authority that issued it.
        #expect(cache.takeRequests().count == 2)
        // A forged receipt makes the verifier ask no responder.
        var forged = try signer.sign(Shop.receipt())
        forged[forged.count - 1] ^= 1
        #expect(Shop.code(verifier, forged) == .invalidSignature && cache.takeRequests().isEmpty)
    }

    @Test("may be Apple Root CA's wherever Apple Root CA - G3 is trusted, and nothing else is")
    func appleRoot() {
        let apple = TrustedRoots(appStore: [.appleRootG3])
        #expect(
            Fingerprint.appleRoot.description == "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024")
        for environment in [Base.Environment.production, .sandbox] {
            #expect(apple.trustsReceipts(.appleRoot, for: environment))
            #expect(apple.trustsReceipts(.appleRootG3, for: environment))
            #expect(!apple.trusts(.appleRoot, for: environment))
        }
        #expect(!apple.trustsReceipts(.appleRoot, for: .xcode))
        let own = TrustedRoots(appStore: [Fingerprint(of: [1])])
        #expect(!own.trustsReceipts(.appleRoot, for: .production))
    }
}
