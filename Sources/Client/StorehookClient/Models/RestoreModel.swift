/// The screen that restores purchases.
@MainActor
public final class RestoreModel: ScreenModel<RestoreSnapshot> {
    private let links: AppLinks
    private var state = RestoreSnapshot.State.idle

    init(_ plan: any PlanProvider, texts: ClientTexts, links: AppLinks) {
        self.links = links
        super.init(Self.snapshot(.idle, texts, links), plan, texts)
    }

    /// Restores what was bought. It returns when that has ended; while it goes on nothing happens.
    public func restore() async {
        guard state != .restoring else { return }
        state = .restoring
        update()
        switch await plan.restore(texts) {
        case .restored(let count): state = .success(count)
        case .nothing: state = .noSubscriptions
        case .cancelled: state = .idle
        case .failed(let message): state = .error(message)
        }
        update()
    }

    override func made() -> RestoreSnapshot { Self.snapshot(state, texts, links) }

    private static func snapshot(
        _ state: RestoreSnapshot.State, _ texts: ClientTexts, _ links: AppLinks
    ) -> RestoreSnapshot {
        let text: String
        var action = texts(.restorePurchases)
        switch state {
        case .idle: text = texts(.restoreIdle)
        case .restoring: text = texts(.restoring)
        case .success(let count): text = texts(.restoreDone, count: Int64(count))
        case .error(let message):
            text = message.text
            action = message.actionTitle
        case .noSubscriptions: text = texts(.restoreNothing)
        }
        return RestoreSnapshot(
            title: texts(.restoreTitle), state: state, text: text, action: action, canRestore: state != .restoring,
            guideTitle: texts(.restoreGuideTitle),
            guide: [.restoreGuideWhen, .restoreGuideAccount, .restoreGuideOnline, .restoreGuideSupport]
                .map { texts($0) },
            support: ModelLink(title: texts(.contactSupport), url: links.support))
    }
}
