import AppStorePayloads
import Base

/// A story's words, as seen at an entry's instant: dates in that year are given without the year.
struct StoryWords {
    private let at: Timestamp
    private let prefix: String
    private var monthWidth: Int?

    init(at: Timestamp, bundleID: String) {
        self.at = at
        prefix = bundleID + "."
    }

    /// As many of the changes as fit, and always the first one.
    func text(_ changes: [PurchaseChange]) -> String {
        var text = ""
        for change in changes {
            let more = words(change)
            if text.isEmpty {
                text = more
            } else if text.count + 2 + more.count <= PurchaseStory.wordsWidth {
                text += "; " + more
            }
        }
        guard text.count > PurchaseStory.wordsWidth else { return text }
        guard monthWidth == nil else { return text.prefix(PurchaseStory.wordsWidth - 1) + "…" }
        var shorter = self
        shorter.monthWidth = 3
        return shorter.text(changes)
    }

    private func words(_ change: PurchaseChange) -> String {
        let product = product(change.productID)
        switch change.kind {
        case .bought: return "bought \(product)\(until(change))\(paid(change))"
        case .trialStarted: return "free trial of \(product)\(until(change))"
        case .boughtAgain: return "bought again: \(product)\(until(change))\(paid(change))"
        case .familyShared: return "\(product) shared by the family\(until(change))"
        case .renewed:
            return "renewed\(change.formerProductID == nil ? "" : " as \(product)")\(until(change))\(paid(change))"
        case .recovered: return "charge went through, paid\(until(change))\(paid(change))"
        case .upgraded: return "upgraded to \(product)\(until(change))\(paid(change))"
        case .productChanged: return "changed to \(product)\(until(change))\(paid(change))"
        case .periodTold: return "told late: \(span(change))\(paid(change))"
        case .replaced: return "Apple says that an upgrade replaced the period"
        case .renewalReplaced: return "renewal of \(span(change))\(paid(change)) replaced before it began"
        case .renewalProductChanged: return "will renew as \(product)"
        case .renewalProductKept: return "will renew as \(product) after all"
        case .autoRenewOff: return "auto-renew switched off"
        case .autoRenewOn: return "auto-renew switched on"
        case .chargeFailed:
            return change.until == nil
                ? "charge failed, no grace; Apple tries again" : "charge failed, grace\(until(change))"
        case .graceEnded: return "grace ended; Apple goes on trying to charge"
        case .expired: return "expired" + (change.intent.map { Self.why[$0] ?? ": for another reason" } ?? "")
        case .refunded: return refund(change)
        case .refundReversed: return "refund of \(span(change)) taken back"
        case .familyRevoked: return "the family no longer shares \(product)"
        case .extended: return "extended\(until(change))"
        case .extensionFailed: return "a mass extension failed for this purchase"
        case .priceIncreasePending: return "asked to agree to a higher price"
        case .priceIncreaseAgreed: return "higher price agreed to, or no consent needed"
        case .consumptionRequested:
            let why = change.reason.map { ": \($0.lowercased().replacing("_", with: " "))" } ?? ""
            return "refund of \(span(change)) asked for\(why)"
        case .refundDeclined: return "refund of \(span(change)) declined"
        case .offerRedeemed: return "offer taken for the next renewal"
        case .oneTimeBought:
            let many = change.quantity.flatMap { $0 > 1 ? "\($0) × " : nil } ?? ""
            return "bought \(many)\(product)\(until(change))\(paid(change))"
        case .restored: return "\(product) restored, no new purchase"
        case .commerceChanged:
            return "Advanced Commerce: \((change.reason ?? "").lowercased().replacing("_", with: " "))"
        case .unknownType: return "\(change.reason ?? "a type") is a type that this release does not know"
        case .nothingNew: return change.reason.map { "nothing new (\($0))" } ?? "nothing new"
        }
    }

    private static let why = [
        1: ": auto-renew was off", 2: ": the charge failed for good", 3: ": no consent to the higher price",
        4: ": the product is no longer sold",
    ]

    private func refund(_ change: PurchaseChange) -> String {
        let part = change.share.flatMap { $0 < OneTimePurchase.whole ? " (\(percent($0)))" : nil } ?? ""
        // Before what may have to be cut off.
        let why = change.refundReason.map { " (\($0.words))" } ?? ""
        guard let amount = change.amount, amount.milliunits != 0 else {
            return "refund\(why) of \(span(change))\(part)"
        }
        return "refund\(why) of \(span(change)): \(amount.words)\(part) went back"
    }

    private func percent(_ share: Int64) -> String {
        let (whole, rest) = share.quotientAndRemainder(dividingBy: 1000)
        return rest == 0 ? "\(whole) %" : "\(whole).\(rest / 100) %"
    }

    private func paid(_ change: PurchaseChange) -> String { change.amount.map { ", \($0.words)" } ?? "" }

    private func until(_ change: PurchaseChange) -> String {
        guard let until = change.until else { return "" }
        // Days say nothing of periods that last minutes, as in the Sandbox.
        let isShort = change.from.map { until.milliseconds(since: $0) < Self.day } ?? (until < at.adding(days: 1))
        return " until \(day(until))" + (isShort ? " \(clock(until))" : "")
    }

    /// The period, or the product where it has no end.
    private func span(_ change: PurchaseChange) -> String {
        guard let from = change.from, let until = change.until else { return product(change.productID) }
        if until.milliseconds(since: from) < Self.day { return "\(day(from)) \(clock(from)) to \(clock(until))" }
        return "\(day(from)) to \(day(until))"
    }

    private func product(_ id: String?) -> String {
        guard let id else { return "an unnamed product" }
        let name = id.hasPrefix(prefix) && id.count > prefix.count ? id.dropFirst(prefix.count) : id[...]
        return name.count > Self.productWidth ? "…" + name.suffix(Self.productWidth - 1) : String(name)
    }

    private func day(_ instant: Timestamp) -> String {
        let (year, month, day) = Self.date(instant)
        let name = Self.months[month - 1].prefix(monthWidth ?? Int.max)
        return year == Self.date(at).year ? "\(day) \(name)" : "\(day) \(name) \(year)"
    }

    private func clock(_ instant: Timestamp) -> String {
        let minutes = ((instant.millisecondsSince1970 % Self.day + Self.day) % Self.day) / 60_000
        return [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    private static func date(_ instant: Timestamp) -> (year: String, month: Int, day: Int) {
        let text = instant.description
        guard let end = text.firstIndex(of: "T") else { return (text, 1, 1) }
        let parts = text[..<end].split(separator: "-")
        let month = parts.dropLast().last.flatMap { Int($0) } ?? 1
        return (parts.dropLast(2).joined(), min(max(month, 1), 12), parts.last.flatMap { Int($0) } ?? 1)
    }

    private static let day: Int64 = 86_400_000
    private static let productWidth = 24
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}
