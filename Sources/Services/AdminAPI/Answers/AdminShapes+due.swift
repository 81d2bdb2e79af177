import AppleRecords
import Base
import Postgres

extension AdminShapes {
    /// What was due and was not heard of, by age.
    static let due = Shape<DueCounts, Void>(
        "Due",
        [
            .list("ages", dueAge, about: "The least first.") { $0.lines },
            .init(
                "due",
                "How much was due from 24 hours to one hour before it was counted, heard of or not; null before the first count."
            ) { $0.due },
            .init("dueCountedAt", "The instant that this is of.") { $0.dueCountedAt },
            .init(
                "alert",
                "Whether more than a twentieth of that, and at least 20, was not heard of six hours later: Apple's posts may not arrive."
            ) { $0.isAlarming },
        ])

    private static let dueAge = Shape<DueCounts.Line, Void>(
        "DueAge",
        [
            .init(
                "age",
                "How long ago it was due: 1h is one hour to 6, 6h to 24, 24h to three days, 3d to a week, older to 60 days."
            ) { $0.age },
            .init("unheard", "How much Apple signed nothing of; null before the first count.") { $0.unheard },
            .init(
                "imported", "Apart, how much of purchases that operators imported and that Apple never spoke of."
            ) { $0.imported },
            .init("countedAt", "The instant that both are of.") { $0.countedAt },
        ])

    /// An end about which nothing was heard.
    static let unheardEnd = Shape<UnheardEnd, Void>(
        "UnheardEnd",
        [
            .init("endsAt", "When it was due.") { $0.endsAt },
            .init("age", "As it was counted.") { $0.age },
            .init("kind", "What ended: a paid period, a trial, a grace period, or the 60 days of tries to charge.") {
                $0.kind
            },
            .init("originalTransactionId") { $0.originalTransactionID }, .init("bundleId") { $0.bundleID },
            .init("productId") { $0.productID },
            .init("imported", "Whether operators imported the purchase, and Apple never spoke of it.") {
                $0.isImported
            },
        ])
}
