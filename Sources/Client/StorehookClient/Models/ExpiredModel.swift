/// The screen of an ended subscription: that it has ended and when, a way to renew, and to restore.
@MainActor
public final class ExpiredModel: ScreenModel<ExpiredSnapshot> {
    private var isRestoring = false
    private var problem: ClientMessage?

    init(_ plan: any PlanProvider, texts: ClientTexts) {
        super.init(Self.snapshot(plan, isRestoring: false, nil, texts), plan, texts)
    }

    /// Restores what was bought. It returns when that has ended; while it goes on nothing happens.
    public func restore() async {
        guard !isRestoring else { return }
        (isRestoring, problem) = (true, nil)
        update()
        switch await plan.restore(texts) {
        case .restored, .cancelled: problem = nil
        case .nothing: problem = .nothingToRestore(texts)
        case .failed(let message): problem = message
        }
        isRestoring = false
        update()
    }

    override func made() -> ExpiredSnapshot {
        Self.snapshot(plan, isRestoring: isRestoring, problem, texts)
    }

    private static func snapshot(
        _ plan: any PlanProvider, isRestoring: Bool, _ problem: ClientMessage?, _ texts: ClientTexts
    ) -> ExpiredSnapshot {
        let content = ExpiredContent(plan.facts, texts)
        return ExpiredSnapshot(
            isExpired: content != nil, title: content?.title ?? texts(.expiredTitle),
            message: content?.message ?? texts(.expiredMessage), expiredOn: content?.expiredOn,
            renewTitle: texts(.renewNow), restoreTitle: texts(.restorePurchases), isRestoring: isRestoring,
            problem: problem)
    }
}
