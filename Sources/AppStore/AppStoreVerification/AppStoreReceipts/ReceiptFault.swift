/// Why bytes cannot be read as a receipt. No case quotes them.
public enum ReceiptFault: String, Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Empty, or longer than a receipt may be.
    case length = "it is empty, or longer than 4 MiB"
    /// More values, or deeper, than any receipt of Apple's.
    case beyondBounds = "it holds more values than a receipt of Apple's"
    /// Neither DER nor BER.
    case notASN1 = "it is no ASN.1"
    /// Not a signed container.
    case notPKCS7 = "it is not PKCS#7 signed data with something in it"
    /// A container whose content is not receipt attributes.
    case notAttributes = "what it signs is no set of receipt attributes"
    /// Neither base64 nor ASN.1, nor a receipt of iOS 6 and before.
    case notText = "it is neither base64 nor the bytes of a receipt"

    /// One line.
    public var description: String { rawValue }
}
