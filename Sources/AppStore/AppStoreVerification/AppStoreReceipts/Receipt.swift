import AppStorePayloads

/// A receipt of an old app, read and not verified.
///
/// An app receipt (iOS 7 and later) is a PKCS#7 container. A transaction receipt (iOS 6 and before) is a list of names
/// and values with a special signature, which only verifyReceipt checks. Either yields transaction ids. Ids out of an
/// unverified receipt serve for requests to Apple and prove nothing.
public struct Receipt: Sendable {
    /// The longest receipt read, in bytes: the longest that is stored. It lists every purchase of a customer.
    public static let maximumSize = 4_194_304

    /// The receipt in base64, as verifyReceipt takes it.
    public let base64: [UInt8]
    /// The contents of an app receipt; nil for a transaction receipt.
    public let contents: AppReceipt?
    /// Transaction ids, one of each purchase, in the receipt's order.
    public let transactionIds: [String]
    /// The container around an app receipt.
    let container: SignedContainer?

    /// The signed content of an app receipt, however its container is encoded; nil for a transaction receipt.
    package var signedContent: [UInt8]? { container?.content }

    /// The DER texts of the enclosed certificates, in no order and untrusted.
    package var certificates: [[UInt8]] { container?.certificates ?? [] }

    /// Reads an app's input: base64 in either alphabet, with or without padding and line breaks, or the bytes
    /// themselves.
    ///
    /// - Throws: ``ReceiptFault``.
    public init(_ bytes: [UInt8]) throws(ReceiptFault) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumSize else { throw .length }
        let decoded = try Self.decoded(bytes)
        base64 = Base64.standard.encode(decoded)
        if decoded.first == 0x30 {
            let container = try SignedContainer(decoded)
            let contents = try AppReceipt(container.content)
            self.container = container
            self.contents = contents
            transactionIds = contents.transactionIds
        } else {
            guard let ids = TransactionReceipt.transactionIds(in: decoded) else { throw .notText }
            container = nil
            contents = nil
            transactionIds = ids
        }
    }

    /// Whether a text can be a transaction id: it becomes a part of a URL. Apple's are numbers of up to 20 digits; Xcode's are short.
    static func isTransactionId(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func decoded(_ bytes: [UInt8]) throws(ReceiptFault) -> [UInt8] {
        // Bytes of a container, or the list itself: neither is base64.
        if bytes.first == 0x30, bytes.contains(where: { $0 >= 0x80 || $0 == 0 }) { return bytes }
        if bytes.contains(UInt8(ascii: "{")) { return bytes }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + 3)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "="):
                continue
            case UInt8(ascii: "-"): text.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): text.append(UInt8(ascii: "/"))
            default: text.append(byte)
            }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        guard let decoded = Base64.standard.decode(text), !decoded.isEmpty else { throw .notText }
        return decoded
    }
}
