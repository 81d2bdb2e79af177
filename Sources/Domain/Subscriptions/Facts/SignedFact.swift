import AppStorePayloads
public import Base

/// A whole record of Apple's. Of two records of one thing, one supersedes the other by one rule.
public protocol SignedFact: Sendable {
    /// The record's own `signedDate`, not that of its notification; for an unsigned record, when Apple answered it.
    var signedAt: Timestamp { get }
    /// SHA-256 of the record's signed JSON; decides between records signed in the same millisecond.
    var digest: [UInt8] { get }
    /// Whether it carries no signature: verifyReceipt's answers are vouched for by TLS alone.
    var isUnsigned: Bool { get }
}

extension SignedFact {
    /// Whether this record replaces the other: a signed record replaces an unsigned one, whatever their dates;
    /// otherwise the later (signedAt, digest) wins.
    ///
    /// Records are replaced whole and never patched: that a field is absent from the newer one is the message (after a
    /// reversed refund, `revocationDate` is gone). The rule is a total order, so the set of records decides the winner and
    /// the order of arrival does not.
    public func supersedes(_ other: Self) -> Bool {
        if isUnsigned != other.isUnsigned { return other.isUnsigned }
        return isLater(than: other)
    }

    /// Order of time: by (signedAt, digest).
    func isLater(than other: Self) -> Bool {
        if signedAt != other.signedAt { return signedAt > other.signedAt }
        return other.digest.lexicographicallyPrecedes(digest)
    }

    /// Whether the two are the same text, perhaps out of two notifications.
    public func isSameRecord(_ other: Self) -> Bool { signedAt == other.signedAt && digest == other.digest }
}
