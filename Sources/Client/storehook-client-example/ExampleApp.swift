import Foundation
import StorehookClient
import StorehookClientTesting

/// The app: what it has of the client library, and what it does for each command.
@MainActor final class ExampleApp {
    let screen: Screen
    let texts: ClientTexts
    let manager: SubscriptionManager
    let tracker: UsageTracker
    let gate: FeatureGate
    let paywall: PaywallModel
    private let options: ExampleOptions
    private let source: StandInSource

    init(_ options: ExampleOptions) {
        self.options = options
        screen = Screen(isColoured: options.isColoured)
        texts = ClientTexts(preferred: options.languages)
        source = StandInSource(url: options.standIn, customer: options.customer, environment: options.environment)
        let tokens = ExampleTokens(token: options.token, command: options.tokenCommand)
        let api = AccountAPI(baseURL: options.api, languages: options.languages) { try await tokens.next() }
        let folder = URL(fileURLWithPath: options.folder, isDirectory: true)
        let screen = screen
        let toErrors: @Sendable (String) -> Void = { screen.error($0) }
        let log = options.writesLog ? toErrors : nil
        manager = SubscriptionManager(
            api: api, source: source, cache: FileStatusCache(url: folder.appendingPathComponent("status.json")),
            grace: options.grace, clock: ExampleClock(ahead: options.clockAhead), log: log)
        tracker = UsageTracker(
            manager: manager, api: api, cache: FileStatusCache(url: folder.appendingPathComponent("usage.json")),
            log: log)
        gate = FeatureGate(tracker: tracker, texts: texts)
        let links = AppLinks(
            privacy: URL(string: "https://example.com/privacy"), terms: URL(string: "https://example.com/terms"))
        paywall = PaywallModel(manager: manager, tracker: tracker, texts: texts, links: links)
    }

    /// What every start does: the account signs in, what was left unfinished is handed in, and what was used is reported.
    func launch() async {
        await manager.signIn(accountID: options.account)
        await manager.start()
        await tracker.synchronize()
    }

    func perform(_ command: ExampleCommand) async {
        switch command {
        case .paywall:
            await paywall.load()
            showPaywall()
        case .buy(let product): await buy(product)
        case .pending(let product):
            source.faults.next(.pending)
            await buy(product)
        case .cancel(let product):
            source.faults.next(.cancelled)
            await buy(product)
        case .approve: await approve()
        case .use(let feature, let times): await use(feature, times)
        case .status: showStatus()
        case .restore: await restore()
        case .refresh: await manager.refreshSubscriptionStatus()
        case .sync: await tracker.synchronize()
        case .signOut:
            manager.signOut()
            screen.line("signed out", .dim)
        }
    }

    /// Buys on the paywall, as a customer does: chosen, then the button pressed.
    private func buy(_ name: String) async {
        await paywall.load()
        let sold = manager.catalog?.products.first { $0.id == name || $0.productID == name }
        let option = paywall.snapshot.options.first { $0.id == sold?.productID }
        guard let option, !option.isCurrent else {
            screen.pair("purchase", option == nil ? "there is no product \(name)" : "yours already", .warning)
            show(paywall.snapshot.message)
            return
        }
        paywall.select(option.id)
        await paywall.purchase()
        let snapshot = paywall.snapshot
        switch snapshot.phase {
        case .done: screen.pair("purchase", "done", .good)
        case .pending: screen.pair("purchase", "pending", .warning)
        default: screen.pair("purchase", snapshot.message == nil ? "cancelled" : "failed", .bad)
        }
        if let confirmation = snapshot.confirmation { screen.line(confirmation, .title) }
        show(snapshot.message)
        paywall.dismiss()
    }

    private func approve() async {
        do {
            try await source.approve()
            await manager.refreshSubscriptionStatus()
            screen.line("approved", .good)
        } catch {
            screen.line("not approved: \(error)", .bad)
        }
    }

    /// Uses a feature so many times. The gate is asked each time, as before each call of an app's own.
    private func use(_ feature: String, _ times: Int) async {
        var (used, refused) = (0, 0)
        var prompt: String?
        for _ in 0..<times {
            prompt = gate.check(feature)
            if prompt == nil, case .refused(let restriction) = tracker.count(feature) {
                prompt = gate.prompt(restriction, of: feature)
            }
            if prompt == nil { used += 1 } else { refused += 1 }
        }
        screen.pair("used", "\(used)", used > 0 ? .good : .plain)
        if refused > 0 { screen.pair("refused", "\(refused)", .bad) }
        if let prompt {
            screen.line("⛔ \(prompt)", .bad)
        } else if let warning = gate.warning(feature) {
            screen.line("⚠ \(warning)", .warning)
        }
        await tracker.synchronize()
    }

    private func restore() async {
        let model = RestoreModel(manager: manager, tracker: tracker, texts: texts)
        await model.restore()
        switch model.snapshot.state {
        case .success(let count): screen.pair("restored", "\(count)", .good)
        case .noSubscriptions: screen.pair("restored", "nothing", .warning)
        case .idle, .restoring: screen.pair("restored", "cancelled", .warning)
        case .error: screen.pair("restored", "failed", .bad)
        }
        screen.line(model.snapshot.text)
    }
}
