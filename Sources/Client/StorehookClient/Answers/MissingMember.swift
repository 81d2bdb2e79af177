/// What an answer's member is where the answer lacks it: a later server may leave out what an app of today reads.
protocol MissingMember: Decodable {
    static var missing: Self { get }
}

extension KeyedDecodingContainer {
    /// A member, or what stands for it where it is missing or null.
    /// - Throws: where it is there and cannot be read.
    func value<Value: MissingMember>(_ key: Key) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? .missing
    }
}

extension String: MissingMember {
    static var missing: String { "" }
}

extension Bool: MissingMember {
    static var missing: Bool { false }
}

extension Int64: MissingMember {
    static var missing: Int64 { 0 }
}

extension Array: MissingMember where Element: Decodable {
    static var missing: [Element] { [] }
}

extension Environment: MissingMember {
    static var missing: Environment { .unknown("") }
}

extension PurchaseType: MissingMember {
    static var missing: PurchaseType { .none }
}

extension SubscriptionPeriod: MissingMember {
    static var missing: SubscriptionPeriod { .none }
}

extension AccountSource: MissingMember {
    static var missing: AccountSource { .none }
}

extension TrialEligibility: MissingMember {
    static var missing: TrialEligibility { TrialEligibility(eligible: false, reason: nil, trial: nil) }
}
