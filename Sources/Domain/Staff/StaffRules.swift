/// What each member of the staff may do: one table, which commands and the admin API go by.
public struct StaffRules: Sendable, Hashable {
    /// `STOREHOOK_FOUR_EYES`: whether a request has to be approved by another person than its requester.
    public var isFourEyes: Bool

    /// The rules.
    public init(isFourEyes: Bool = false) { self.isFourEyes = isFourEyes }

    /// A row of the table.
    public struct Rule: Sendable, Hashable {
        /// The least role that may do it.
        public var role: StaffRole
        /// Whether it is done to an account or its purchases, which belong to all apps of the catalog at once.
        public var isOfAccount: Bool
        /// Whether it concerns all apps, also later ones: only staff of all apps makes staff of all apps, or changes what all of them sell.
        public var isOfAll: Bool
        /// The most days that less than an admin may give at a time; nil where there is no such limit.
        public var days: Int64?

        init(_ role: StaffRole, isOfAccount: Bool = false, isOfAll: Bool = false, days: Int64? = nil) {
            self.role = role
            self.isOfAccount = isOfAccount
            self.isOfAll = isOfAll
            self.days = days
        }
    }

    /// The table.
    public static func rule(for kind: StaffTask.Kind) -> Rule {
        switch kind {
        case .read: Rule(.viewer)
        case .openPersonalText, .exportPersonalText: Rule(.support)
        case .grant, .extend: Rule(.support, isOfAccount: true, days: 90)
        case .addNote: Rule(.support, isOfAccount: true)
        case .saveFilters, .createRefundRequest, .cancelRefundRequest: Rule(.support)
        case .rehearseReplay, .replay: Rule(.support)
        case .approveRefundRequest, .rejectRefundRequest, .recordRefund: Rule(.admin)
        case .revoke, .unrevoke, .changeTier, .movePurchase, .changeAccounts, .recordConsent:
            Rule(.admin, isOfAccount: true)
        case .answerConsumption, .discard, .changeEndpoints, .importRates, .closeMonth: Rule(.admin)
        case .applyCatalog, .manageStaff: Rule(.admin, isOfAll: true)
        }
    }

    /// The refusal of an act; nil where the actor may do it.
    /// - Parameters:
    ///   - scope: the apps that they are staff of.
    ///   - catalogApps: the apps of the current catalog.
    public func refusal(
        of task: StaffTask, by role: StaffRole, of scope: StaffScope = .all, catalogApps: Set<String> = []
    ) -> StaffRefusal? {
        let rule = Self.rule(for: task.kind)
        guard role >= rule.role else { return .role(needed: rule.role) }
        if rule.isOfAccount, !scope.isSuperset(of: catalogApps) { return .otherApps }
        if rule.isOfAll, scope != .all { return .allApps }
        switch task {
        case .grant(let days), .extend(let days):
            if role < .admin, let most = rule.days, days > most { return .days(most: most) }
        case .approveRefundRequest(let isOwn):
            if isFourEyes, isOwn { return .ownRequest }
        case .exportPersonalText(let hasReason):
            if !hasReason { return .noReason }
        default: break
        }
        return nil
    }
}
