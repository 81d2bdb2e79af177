import AppStorePayloads

/// The header of a JWS of Apple's: `alg` is ES256 and `x5c` holds three certificates.
///
/// Other members are ignored, as RFC 7515 section 4 asks: they are signed, too, and decide nothing. Only `crit` is
/// refused, which demands that they be understood.
struct JWSHeader {
    /// The certificates' DER texts: leaf, intermediate, root.
    let certificates: [[UInt8]]

    /// Reads a header's JSON text.
    ///
    /// - Throws: `malformed`, `unsupported_algorithm`, `wrong_chain_length`, or `malformed_certificate` for what is not base64.
    init(_ json: [UInt8]) throws(VerificationFailure) {
        let document: JSONDocument
        do {
            document = try JSONDocument(json)
        } catch {
            throw VerificationFailure(.malformed, "The JWS's header is not JSON that can be relied upon: \(error).")
        }
        guard let object = document.object else {
            throw VerificationFailure(.malformed, "The JWS's header is not a JSON object.")
        }
        guard let algorithm = object.string("alg") else {
            throw VerificationFailure(.malformed, "The JWS's header has no alg.")
        }
        guard algorithm == "ES256" else {
            throw VerificationFailure(
                .unsupportedAlgorithm, "The JWS's alg is not ES256, the only one that Apple uses.")
        }
        guard let count = object.elementCount("x5c") else {
            throw VerificationFailure(.malformed, "The JWS's header has no x5c, a list of certificates.")
        }
        guard !object.has("crit") else {
            throw VerificationFailure(.malformed, "The JWS's header has crit, which Apple's has not.")
        }
        guard count == 3 else {
            throw VerificationFailure(.wrongChainLength, "x5c has \(count) certificates; Apple sends three.")
        }
        guard let texts = object.strings("x5c") else {
            throw VerificationFailure(.malformed, "x5c holds something else than texts.")
        }
        var certificates: [[UInt8]] = []
        for text in texts {
            guard let der = Base64.standard.decode(Array(text.utf8)) else {
                throw VerificationFailure(.malformedCertificate, "A certificate in x5c is not standard base64.")
            }
            certificates.append(der)
        }
        self.certificates = certificates
    }

    /// The header segment as Apple writes it for these certificates: one text for one chain.
    var canonicalSegment: [UInt8] {
        var text = Array("{\"alg\":\"ES256\",\"x5c\":[\"".utf8)
        for (index, certificate) in certificates.enumerated() {
            if index > 0 { text.append(contentsOf: "\",\"".utf8) }
            text.append(contentsOf: Base64.standard.encode(certificate))
        }
        text.append(contentsOf: "\"]}".utf8)
        return Base64.url.encode(text)
    }
}
