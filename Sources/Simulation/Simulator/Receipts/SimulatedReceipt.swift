import AppStorePayloads
import Base

/// What an app receipt says, attribute by attribute (Apple, Validating receipts on the device); every one of them can be bent.
public struct SimulatedReceipt: Sendable, Hashable {
    /// One attribute: a type, and a value as it stands in its octet string.
    public struct Attribute: Sendable, Hashable {
        /// What it is.
        public var type: Int64
        /// Its value.
        public var value: [UInt8]

        /// An attribute as it stands.
        public init(_ type: Int64, _ value: [UInt8]) {
            self.type = type
            self.value = value
        }

        /// A text, as UTF8String.
        public static func text(_ type: Int64, _ text: String) -> Attribute {
            Attribute(type, ReceiptEncoding.value(0x0C, Array(text.utf8)))
        }

        /// An instant, as IA5String in whole seconds; the empty text for none, as Apple writes it.
        public static func date(_ type: Int64, _ instant: Milliseconds?) -> Attribute {
            let text = instant.map { "\(Timestamp(secondsSince1970: $0 / 1000))" } ?? ""
            return Attribute(type, ReceiptEncoding.value(0x16, Array(text.utf8)))
        }

        /// A whole number.
        public static func integer(_ type: Int64, _ number: Int64) -> Attribute {
            Attribute(type, ReceiptEncoding.integer(number))
        }

        /// A purchase: a set of attributes in an attribute.
        public static func purchase(_ attributes: [Attribute]) -> Attribute { Attribute(17, set(attributes)) }

        /// The set of these attributes.
        static func set(_ attributes: [Attribute]) -> [UInt8] {
            ReceiptEncoding.value(
                0x31,
                attributes.flatMap {
                    ReceiptEncoding.value(
                        0x30,
                        ReceiptEncoding.integer($0.type) + ReceiptEncoding.integer(1)
                            + ReceiptEncoding.value(0x04, $0.value))
                })
        }
    }

    /// The attributes, in the order in which they are written.
    public var attributes: [Attribute]

    /// A receipt of these attributes.
    public init(attributes: [Attribute]) { self.attributes = attributes }

    /// A receipt as Apple would make it of what was bought.
    public init(
        of items: [TransactionRecord], app: SimulatedApp, at instant: Milliseconds
    ) {
        attributes = [
            .text(0, app.environment == .sandbox ? "ProductionSandbox" : "\(app.environment.rawValue)"),
            .text(2, app.bundleId), .text(3, app.bundleVersion), Attribute(4, Array("opaque".utf8)),
            Attribute(5, [UInt8](repeating: 0x5A, count: 20)), .date(12, instant), .text(19, "1"),
        ]
        attributes += items.map { item in
            var members: [Attribute] = [
                .integer(1701, Int64(item.quantity)), .text(1702, item.productId), .text(1703, item.transactionId),
                .date(1704, item.purchaseDate), .text(1705, item.originalTransactionId),
                .date(1706, item.originalPurchaseDate), .date(1708, item.expiresDate),
                .date(1712, item.revocationDate),
                .integer(1719, item.offer?.kind == .introductory ? 1 : 0),
            ]
            if let period = item.webOrderLineItemId.flatMap({ Int64($0) }) { members.append(.integer(1711, period)) }
            return .purchase(members)
        }
    }

    /// What is signed: the set of the attributes.
    public var content: [UInt8] { Attribute.set(attributes) }
}
