import AppStorePayloads
public import Base

/// What a simulated certificate says about itself: Apple's shape by default, and every part of it can be bent for a test.
public struct CertificateShape: Sendable {
    /// What the certificate says about being an authority (basic constraints).
    public enum Authority: Sendable, Hashable {
        /// The extension is missing.
        case unstated
        /// CA:FALSE.
        case no
        /// CA:TRUE, with at most so many further authorities below it.
        case yes(pathLength: Int?)
    }

    /// The curve of the certificate's own key.
    public enum Curve: Sendable, Hashable {
        /// As Apple's leaf.
        case p256
        /// As Apple's authorities.
        case p384
        /// No curve at all: as Apple's older authorities, which sign receipts.
        case rsa2048
    }

    /// An extension put in as it is.
    public struct RawExtension: Sendable, Hashable {
        /// The object identifier's arcs.
        public var oid: [UInt]
        /// Whether a verifier that does not know it must refuse the certificate.
        public var isCritical: Bool
        /// The DER text of the extension's value.
        public var value: [UInt8]

        /// Creates the extension; by default the value is an ASN.1 NULL, as in Apple's markers.
        public init(oid: [UInt], isCritical: Bool = false, value: [UInt8] = [0x05, 0x00]) {
            self.oid = oid
            self.isCritical = isCritical
            self.value = value
        }
    }

    /// The subject's common name.
    public var commonName: String
    /// The subject's organizational unit.
    public var organizationalUnit: String
    /// The curve of the key.
    public var curve: Curve
    /// Whether an RSA key signs certificates over SHA-1, as Apple's did until 2023.
    public var signsWithSHA1 = false
    /// The first instant at which it is valid; whole seconds.
    public var notBefore: Timestamp
    /// The last instant at which it is valid; whole seconds.
    public var notAfter: Timestamp
    /// Basic constraints.
    public var authority: Authority
    /// Key usage: the key may sign data.
    public var maySignData: Bool
    /// Key usage: the key may sign certificates.
    public var maySignCertificates: Bool
    /// Where an OCSP responder would be; nil leaves the extension out.
    public var responder: String?
    /// Where further responders would be, to be asked where the first one gives no answer; needs a first one.
    public var furtherResponders: [String] = []
    /// Where the issuer's certificate would be; nil leaves it out.
    public var issuerLocation: String?
    /// Where a revocation list would be; nil leaves the extension out.
    public var revocationList: String?
    /// The text of the certificate policy; nil leaves the extension out.
    public var policyText: String?
    /// The extensions that make it Apple's shape, and any other.
    public var extensions: [RawExtension]

    /// The marker of an intermediate that may sign receipt-signing leaves, 1.2.840.113635.100.6.2.1.
    public static let intermediateMarker: [UInt] = [1, 2, 840, 113_635, 100, 6, 2, 1]
    /// The marker of a leaf that may sign what the App Store says, 1.2.840.113635.100.6.11.1.
    public static let leafMarker: [UInt] = [1, 2, 840, 113_635, 100, 6, 11, 1]

    /// 2010-01-01T00:00:00Z: before any App Store payload that a simulation would date.
    public static let earliest = Timestamp(secondsSince1970: 1_262_304_000)
    /// 2049-12-31T23:59:59Z: the last second that the short form of a certificate's date can write.
    public static let latest = Timestamp(secondsSince1970: 2_524_607_999)

    /// A self-signed root.
    public static let root = CertificateShape(
        commonName: "Storehook Simulator Root CA",
        organizationalUnit: "Simulated Issuer",
        curve: .p384,
        authority: .yes(pathLength: nil),
        maySignCertificates: true
    )

    /// The authority between, which may sign leaves only.
    public static let intermediate = CertificateShape(
        commonName: "Storehook Simulator Intermediate Authority (S6)",
        organizationalUnit: "S6",
        curve: .p384,
        authority: .yes(pathLength: 0),
        maySignCertificates: true,
        responder: "http://ocsp.storehook.invalid/ocsp03-simulatorroot",
        revocationList: "http://crl.storehook.invalid/simulatorroot.crl",
        extensions: [RawExtension(oid: intermediateMarker)]
    )

    /// The certificate whose key signs payloads.
    public static let leaf = CertificateShape(
        commonName: "Simulated ECC App Store and Receipt Signing (not Apple)",
        organizationalUnit: "Storehook Simulator Relations",
        curve: .p256,
        authority: .no,
        maySignData: true,
        responder: "http://ocsp.storehook.invalid/ocsp03-simulators602",
        issuerLocation: "http://certs.storehook.invalid/simulators6.der",
        policyText:
            "This certificate was made by a simulator of the App Store for tests and demonstrations. It vouches for "
            + "nothing and nobody, and no party should rely on it at all.",
        extensions: [RawExtension(oid: leafMarker)]
    )

    /// Creates a shape; by default valid from ``earliest`` to ``latest`` and without any rights.
    public init(
        commonName: String,
        organizationalUnit: String,
        curve: Curve,
        notBefore: Timestamp = earliest,
        notAfter: Timestamp = latest,
        authority: Authority = .unstated,
        maySignData: Bool = false,
        maySignCertificates: Bool = false,
        responder: String? = nil,
        issuerLocation: String? = nil,
        revocationList: String? = nil,
        policyText: String? = nil,
        extensions: [RawExtension] = []
    ) {
        self.commonName = commonName
        self.organizationalUnit = organizationalUnit
        self.curve = curve
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.authority = authority
        self.maySignData = maySignData
        self.maySignCertificates = maySignCertificates
        self.responder = responder
        self.issuerLocation = issuerLocation
        self.revocationList = revocationList
        self.policyText = policyText
        self.extensions = extensions
    }
}
