package import Subscriptions

/// Something to store: what it is, which way it came, and its bytes.
package struct Evidence: Sendable, Hashable {
    /// What it is.
    package var kind: EvidenceKind
    /// Which way it came.
    package var source: EvidenceSource
    /// The compact JWS, byte for byte; for a receipt its bytes as they came, for verifyReceipt's answer the extract.
    package var bytes: [UInt8]

    /// A piece of evidence; at most ``Subscriptions/EvidenceKind/maximumSize`` bytes.
    package init(_ kind: EvidenceKind, from source: EvidenceSource, _ bytes: [UInt8]) {
        self.kind = kind
        self.source = source
        self.bytes = bytes
    }
}

extension EvidenceKind {
    /// Whether it is a JWS, which names the signer's certificates.
    package var isJWS: Bool { self != .receipt && !isUnsigned }

    /// The most that is stored of it, in bytes; the schema checks the same numbers. A receipt lists every
    /// purchase of a customer.
    package var maximumSize: Int { self == .receipt ? 4_194_304 : Outbox.maximumBodySize }
}

// The numbers of these values in the outbox's columns.

extension EvidenceKind {
    private static let numbered: [EvidenceKind] = [
        .notification, .transaction, .renewal, .appTransaction, .receipt, .receiptTransaction, .receiptRenewal,
    ]

    var number: Int16 { Int16(Self.numbered.firstIndex(of: self) ?? 0) }

    init?(number: Int) {
        guard Self.numbered.indices.contains(number) else { return nil }
        self = Self.numbered[number]
    }
}

extension EvidenceSource {
    private static let numbered: [EvidenceSource] = [.webhook, .history, .api, .client, .operator]

    var number: Int16 { Int16(Self.numbered.firstIndex(of: self) ?? 0) }

    init?(number: Int) {
        guard Self.numbered.indices.contains(number) else { return nil }
        self = Self.numbered[number]
    }
}
