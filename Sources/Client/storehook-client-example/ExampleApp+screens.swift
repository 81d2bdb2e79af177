import Foundation
import StorehookClient

/// What the app's screens look like.
extension ExampleApp {
    func show(_ message: ClientMessage?) {
        guard let message else { return }
        screen.line("\(message.text)  [\(message.actionTitle)]", .warning)
    }

    func showPaywall() {
        let wall = paywall.snapshot
        screen.line(wall.title, .title)
        if let placeholder = wall.placeholder { screen.line(placeholder, .dim) }
        for highlight in wall.highlights { screen.line("\(screen.paint("✓", .good)) \(highlight)") }
        for option in wall.options {
            let notes = [
                option.pricePerDay.map { screen.paint($0, .dim) }, option.saving.map { screen.paint($0, .good) },
                option.popularTitle.map { screen.paint($0, .warning) }, option.trial.map { screen.paint($0, .good) },
                option.isCurrent ? screen.paint(option.callToAction, .good) : nil,
            ].compactMap(\.self)
            let mark = screen.paint(option.isSelected ? "●" : "○", .accent)
            screen.line(
                (["\(mark) \(option.name)", screen.paint(option.price ?? "", .accent)] + notes).joined(separator: "  "))
        }
        if let table = wall.comparison { show(table) }
        if let button = wall.callToAction { screen.line("[ \(button) ]", .title) }
        if let notice = wall.renewalNotice { screen.line(notice, .dim) }
        screen.line([wall.restoreTitle, wall.privacy.title, wall.terms.title].joined(separator: " · "), .dim)
        show(wall.message)
    }

    private func show(_ table: ComparisonTable) {
        screen.line()
        screen.line(table.title, .title)
        let rows =
            [[table.featureTitle] + table.columns.map(\.name)]
            + table.rows.map { [$0.name] + $0.cells.map(\.text) }
        let widths = rows.reduce(into: [Int](repeating: 0, count: table.columns.count + 1)) { widths, row in
            for (place, text) in row.enumerated() { widths[place] = max(widths[place], Screen.width(text)) }
        }
        for (number, row) in rows.enumerated() {
            let cells = row.enumerated().map { place, text in
                let padded = Screen.pad(text, to: widths[place])
                if number == 0 {
                    let isOwn = place > 0 && table.columns[place - 1].isCurrent
                    return screen.paint(padded, isOwn ? .accent : .dim)
                }
                guard place > 0 else { return padded }
                return screen.paint(padded, table.rows[number - 1].cells[place - 1].isIncluded ? .good : .dim)
            }
            screen.line(cells.joined(separator: "  "))
        }
        screen.line()
    }

    /// The account's plan: what is decided, a name and a value on each line, and below it the screens of an app.
    func showStatus() {
        let access = manager.state.access
        screen.pair("access", access.allowed ? "yes" : "no", access.allowed ? .good : .bad)
        screen.pair("tier", access.tier ?? "free")
        screen.pair("basis", access.basis.rawValue)
        if let until = access.until { screen.pair("until", ISO8601DateFormatter().string(from: until)) }
        let expired = ExpiredModel(manager: manager, tracker: tracker, texts: texts).snapshot
        if expired.isExpired {
            screen.line(expired.title, .bad)
            screen.line(expired.message)
            if let day = expired.expiredOn { screen.line(day, .dim) }
            screen.line("[ \(expired.renewTitle) ]  [ \(expired.restoreTitle) ]", .title)
        }
        showPlan(SubscriptionStatusModel(manager: manager, tracker: tracker, texts: texts).snapshot)
    }

    private func showPlan(_ plan: SubscriptionStatusSnapshot) {
        if let banner = plan.banner { screen.line("⚠ \(banner.text)  [\(banner.action)]", .warning) }
        screen.line("\(plan.card.title): \(plan.card.plan) (\(plan.card.status))", .title)
        for line in [plan.card.term, plan.card.note].compactMap(\.self) { screen.line(line, .dim) }
        for detail in plan.details { screen.pair(detail.title, detail.value) }
        if !plan.usage.isEmpty { screen.line(plan.usageTitle, .title) }
        for bar in plan.usage {
            let end = bar.resetsAt.map { "  " + screen.paint($0, .dim) } ?? ""
            screen.line("\(bar.name)  \(screen.bar(bar.share))  \(bar.text)\(end)")
        }
        if !plan.locked.isEmpty { screen.line(plan.lockedTitle, .title) }
        for feature in plan.locked { screen.line("🔒 \(feature.name)  \(screen.paint(feature.text, .dim))") }
        if let manage = plan.manage, let url = manage.url { screen.pair(manage.title, url.absoluteString) }
    }
}
