import AppStorePayloads

/// What a customer bought, or shares with the member of the family who bought it.
public protocol FamilySharable {
    /// `PURCHASED`, `FAMILY_SHARED`, …, as Apple spells it.
    var ownership: String? { get }
}

extension FamilySharable {
    /// Whether another member of the family bought it: then no money was paid for it here, and none goes back.
    public var isFamilyShared: Bool { ownership == OwnershipType.familyShared.rawValue }
}
