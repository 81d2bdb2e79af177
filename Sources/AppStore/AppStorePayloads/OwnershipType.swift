public import Base

/// Whether the customer bought or shares the product (`inAppOwnershipType`).
public struct OwnershipType: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Bought by this customer.
    public static let purchased = OwnershipType(rawValue: "PURCHASED")
    /// Shared by a family member: access, never money.
    public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")

    /// The values this release knows.
    public static let known: Set<OwnershipType> = [.purchased, .familyShared]
}
