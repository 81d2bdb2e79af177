package import Accounts
package import Staff

extension StaffAct.Kind {
    /// What it is to the rules of who may do what.
    package var task: StaffTask {
        switch self {
        case .grant(_, let days): .grant(days: days)
        case .extend(let days): .extend(days: days)
        case .revoke: .revoke
        case .unrevoke: .unrevoke
        case .changeTier: .changeTier
        }
    }
}
