import AppStorePayloads
import Base
import Crypto

/// A JWS with an anchored chain and a valid signature. Its payload has not been read.
struct SignedPayload {
    let jws: CompactJWS
    /// The payload's JSON text.
    let json: [UInt8]
    let chain: CertificateChain
    /// SHA-256 after the header and its dot, so that a part with the same header need not hash it again.
    let headerHash: SHA256

    /// Checks chain and signature.
    ///
    /// - Parameters:
    ///   - text: The compact JWS.
    ///   - outer: The JWS that encloses this one. Apple writes one header three times; the result for it holds.
    init(
        _ text: [UInt8], inside outer: SignedPayload?, cache: ChainCache, trustedRoots: Set<Fingerprint>
    ) throws(VerificationFailure) {
        jws = try CompactJWS(text)
        if let outer, jws.hasHeader(outer.jws) {
            chain = outer.chain
            headerHash = outer.headerHash
        } else {
            var hash = SHA256()
            jws.hashHeaderSegment(into: &hash)
            let header = Fingerprint(hash.finalize())
            withUnsafeBytes(of: UInt8(ascii: ".")) { hash.update(bufferPointer: $0) }
            headerHash = hash
            if let known = cache.chain(header: header) {
                chain = known
            } else {
                chain = try Self.chain(jws, header: header, cache: cache, trustedRoots: trustedRoots)
            }
        }
        var hash = headerHash
        jws.hashPayload(into: &hash)
        guard ES256.isValid(try jws.signature(), digest: hash.finalize(), key: chain.signingKey) else {
            throw VerificationFailure(.invalidSignature, "The signature does not belong to this payload.")
        }
        json = try jws.payload()
    }

    private static func chain(
        _ jws: CompactJWS, header fingerprint: Fingerprint, cache: ChainCache, trustedRoots: Set<Fingerprint>
    ) throws(VerificationFailure) -> CertificateChain {
        let header = try JWSHeader(try jws.header())
        let shortCut = header.canonicalSegment.elementsEqual(jws.headerSegment) ? fingerprint : nil
        // No lengths between the certificates: DER texts carry their own, so no two lists join to one text.
        let certificates = Fingerprint(of: Array(header.certificates.joined()))
        if let known = cache.chain(certificates: certificates, header: shortCut) { return known }
        let chain = try CertificateChain(validating: header.certificates, trustedRoots: trustedRoots)
        cache.insert(chain, certificates: certificates, header: shortCut)
        return chain
    }
}
