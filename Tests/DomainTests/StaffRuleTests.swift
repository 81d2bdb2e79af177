import Staff
import Testing

/// Each row of "Who may do what", by every role.
struct StaffRuleTests {
    /// The refusals of each role, in the order viewer, support, admin.
    private struct Row: Sendable, CustomTestStringConvertible {
        let task: StaffTask
        let answers: [StaffRefusal?]
        var testDescription: String { "\(task)" }

        init(_ task: StaffTask, _ viewer: StaffRefusal?, _ support: StaffRefusal?, _ admin: StaffRefusal?) {
            self.task = task
            answers = [viewer, support, admin]
        }
    }

    private static let (support, admin) = (StaffRefusal.role(needed: .support), StaffRefusal.role(needed: .admin))
    private static let days = StaffRefusal.days(most: 90)

    private static let rows: [Row] = [
        Row(.read, nil, nil, nil),
        Row(.openPersonalText, support, nil, nil),
        Row(.exportPersonalText(hasReason: true), support, nil, nil),
        Row(.exportPersonalText(hasReason: false), support, .noReason, .noReason),
        Row(.grant(days: 1), support, nil, nil), Row(.grant(days: 90), support, nil, nil),
        Row(.grant(days: 91), support, days, nil), Row(.grant(days: 36_500), support, days, nil),
        Row(.extend(days: 90), support, nil, nil), Row(.extend(days: 91), support, days, nil),
        Row(.addNote, support, nil, nil), Row(.saveFilters, support, nil, nil),
        Row(.createRefundRequest, support, nil, nil), Row(.cancelRefundRequest, support, nil, nil),
        Row(.rehearseReplay, support, nil, nil), Row(.replay, support, nil, nil),
        Row(.approveRefundRequest(isOwn: false), admin, admin, nil),
        Row(.approveRefundRequest(isOwn: true), admin, admin, nil),
        Row(.rejectRefundRequest, admin, admin, nil), Row(.recordRefund, admin, admin, nil),
        Row(.revoke, admin, admin, nil), Row(.unrevoke, admin, admin, nil), Row(.changeTier, admin, admin, nil),
        Row(.movePurchase, admin, admin, nil), Row(.changeAccounts, admin, admin, nil),
        Row(.recordConsent, admin, admin, nil), Row(.answerConsumption, admin, admin, nil),
        Row(.discard, admin, admin, nil), Row(.changeEndpoints, admin, admin, nil),
        Row(.applyCatalog, admin, admin, nil),
        Row(.importRates, admin, admin, nil), Row(.closeMonth, admin, admin, nil), Row(.manageStaff, admin, admin, nil),
    ]

    @Test(arguments: rows)
    private func `Each role may do this, or the refusal states what is missing`(row: Row) {
        for (role, answer) in zip(StaffRole.allCases, row.answers) {
            #expect(StaffRules().refusal(of: row.task, by: role) == answer, "\(role)")
        }
    }

    @Test func `No task is without a row`() {
        #expect(Set(Self.rows.map(\.task.kind)) == Set(StaffTask.Kind.allCases))
        #expect(StaffRole.allCases == StaffRole.allCases.sorted())
    }

    @Test func `With four eyes the requester cannot approve the request`() {
        let rules = StaffRules(isFourEyes: true)
        #expect(rules.refusal(of: .approveRefundRequest(isOwn: true), by: .admin) == .ownRequest)
        #expect(rules.refusal(of: .approveRefundRequest(isOwn: false), by: .admin) == nil)
        #expect(
            rules.refusal(of: .approveRefundRequest(isOwn: true), by: .support) == Self.admin, "the role comes first")
    }

    @Test(arguments: StaffTask.Kind.allCases)
    func `Staff of some apps act for an account only with all apps of the catalog`(
        kind: StaffTask.Kind
    ) throws {
        let ofAccounts: Set<StaffTask.Kind> = [
            .grant, .extend, .addNote, .revoke, .unrevoke, .changeTier, .movePurchase, .changeAccounts, .recordConsent,
        ]
        let task = try #require(Self.rows.first { $0.task.kind == kind && $0.answers[2] == nil }?.task)
        let rules = StaffRules()
        func refusal(_ scope: StaffScope, _ apps: Set<String>) -> StaffRefusal? {
            rules.refusal(of: task, by: .admin, of: scope, catalogApps: apps)
        }
        let always: StaffRefusal? = [.manageStaff, .applyCatalog].contains(kind) ? .allApps : nil
        #expect(refusal(.some(["a"]), ["a", "b"]) == (ofAccounts.contains(kind) ? .otherApps : always))
        #expect(refusal(.some(["a", "b", "c"]), ["a", "b"]) == always && refusal(.all, ["a", "b"]) == nil)
    }

    @Test func `Staff of some apps see what is of their apps alone`() {
        let scope = StaffScope.some(["a"])
        #expect(scope.sees(app: "a") && !scope.sees(app: "b") && !scope.sees(app: nil))
        #expect(StaffScope.all.sees(app: "b") && StaffScope.all.sees(app: nil))
    }
}
