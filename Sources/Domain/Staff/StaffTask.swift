/// What a member of the staff asks to do, with all that the answer depends on.
public enum StaffTask: Sendable, Hashable {
    /// To see what there is, personal texts shortened.
    case read
    /// To see personal texts in full.
    case openPersonalText
    /// To take personal texts along in full, as a file.
    case exportPersonalText(hasReason: Bool)
    /// To give an account a tier for so many days.
    case grant(days: Int64)
    /// To give an account so many days more.
    case extend(days: Int64)
    /// To add a note about a customer.
    case addNote
    /// To save a filter of a list for all of the staff, or to remove one.
    case saveFilters
    /// To ask for a refund.
    case createRefundRequest
    /// To take a request for a refund back.
    case cancelRefundRequest
    /// To see what the replay of dead letters would change.
    case rehearseReplay
    /// To replay dead letters.
    case replay
    /// To approve a request for a refund.
    case approveRefundRequest(isOwn: Bool)
    /// To reject a request for a refund.
    case rejectRefundRequest
    /// To record a refund that was made elsewhere.
    case recordRefund
    /// To end an account's access.
    case revoke
    /// To lift a block.
    case unrevoke
    /// To change the tier that an account has.
    case changeTier
    /// To move a purchase to another account.
    case movePurchase
    /// To erase an account, or to change the rule of account ids.
    case changeAccounts
    /// To record what a customer agreed to, or no longer does.
    case recordConsent
    /// To answer what Apple asks about a refund, by hand.
    case answerConsumption
    /// To give dead letters up, or extensions of renewal dates.
    case discard
    /// To add, change or remove endpoints, and the keys of servers.
    case changeEndpoints
    /// To apply a catalog.
    case applyCatalog
    /// To import exchange rates, or to apply a commission table or a fiscal calendar.
    case importRates
    /// To close a month, or to open it again.
    case closeMonth
    /// To add, change or remove members of the staff, and their tokens.
    case manageStaff

    /// The task without what it depends on: a row of ``StaffRules``.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case read, openPersonalText, exportPersonalText, grant, extend, addNote, saveFilters, createRefundRequest,
            cancelRefundRequest
        case rehearseReplay, replay, approveRefundRequest, rejectRefundRequest, recordRefund, revoke, unrevoke,
            changeTier
        case movePurchase, changeAccounts, recordConsent, answerConsumption, discard, changeEndpoints, applyCatalog,
            importRates
        case closeMonth, manageStaff
    }

    /// Which row of ``StaffRules`` it is.
    public var kind: Kind {
        switch self {
        case .read: .read
        case .openPersonalText: .openPersonalText
        case .exportPersonalText: .exportPersonalText
        case .grant: .grant
        case .extend: .extend
        case .addNote: .addNote
        case .saveFilters: .saveFilters
        case .createRefundRequest: .createRefundRequest
        case .cancelRefundRequest: .cancelRefundRequest
        case .rehearseReplay: .rehearseReplay
        case .replay: .replay
        case .approveRefundRequest: .approveRefundRequest
        case .rejectRefundRequest: .rejectRefundRequest
        case .recordRefund: .recordRefund
        case .revoke: .revoke
        case .unrevoke: .unrevoke
        case .changeTier: .changeTier
        case .movePurchase: .movePurchase
        case .changeAccounts: .changeAccounts
        case .recordConsent: .recordConsent
        case .answerConsumption: .answerConsumption
        case .discard: .discard
        case .changeEndpoints: .changeEndpoints
        case .applyCatalog: .applyCatalog
        case .importRates: .importRates
        case .closeMonth: .closeMonth
        case .manageStaff: .manageStaff
        }
    }
}
