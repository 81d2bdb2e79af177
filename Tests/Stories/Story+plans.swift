@testable import Simulation

extension Story {
    /// Lives that change their plan.
    static let planStories: [Story] = [
        Story(
            "upgraded-at-once",
            teaches: "An upgrade ends the old period at once, and the old transaction is never sent again to say so."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(9), .active, renews: true, .basicMonthly)
            anna.upgrade(line, to: .premiumMonthly, at: tale.day(10))
            tale.expect(anna, line, at: tale.day(11), .active, renews: true, .premiumMonthly, next: .premiumMonthly)
            // The old period would have ended on day 30.
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .premiumMonthly)
            anna.switchAutoRenew(line, on: false, at: tale.day(35))
            tale.expect(anna, line, at: tale.day(39), .cancelled, renews: false, .premiumMonthly)
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(41), .expired, renews: false, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "upgraded-from-a-longer-period",
            teaches: "The replaced period may end after the new one, and gives no access once the new one is over."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicYearly, at: tale.day(0))
            anna.upgrade(line, to: .premiumMonthly, at: tale.day(10))
            tale.expect(anna, line, at: tale.day(11), .active, renews: true, .premiumMonthly)
            anna.switchAutoRenew(line, on: false, at: tale.day(20))
            tale.expect(anna, line, at: tale.day(21), .cancelled, renews: false, .premiumMonthly)
            anna.expire(line)
            // The year that was replaced would have run to day 365.
            tale.expect(anna, line, at: tale.day(41), .expired, renews: false, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(300), .expired, renews: false, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "upgraded-twice",
            teaches: "Each purchase ends the one before it."
        ) { tale in
            var anna = tale.subscriber(.japan, token: tale.token())
            let line = anna.buy(.basicWeekly, at: tale.day(0))
            anna.upgrade(line, to: .premiumMonthly, at: tale.day(3))
            tale.expect(anna, line, at: tale.day(4), .active, renews: true, .premiumMonthly)
            anna.upgrade(line, to: .premiumYearly, at: tale.day(5))
            tale.expect(anna, line, at: tale.day(6), .active, renews: true, .premiumYearly)
            tale.expect(anna, line, at: tale.day(369), .active, renews: true, .premiumYearly)
            tale.expect(anna, line, at: tale.day(371), .expired, renews: nil, .premiumYearly)
            tale.tell(&anna)
        },
        Story(
            "upgraded-after-the-charge",
            teaches: "A renewal that was charged ahead never begins where another plan is bought before it would have."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.renew(line, at: tale.day(29, hour: 14))
            tale.expect(anna, line, at: tale.day(29, hour: 15), .active, renews: true, .basicMonthly)
            anna.upgrade(line, to: .premiumYearly, at: tale.day(29, hour: 20))
            tale.expect(anna, line, at: tale.day(29, hour: 21), .active, renews: true, .premiumYearly)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .premiumYearly)
            anna.switchAutoRenew(line, on: false, at: tale.day(40))
            tale.expect(anna, line, at: tale.day(61), .cancelled, renews: false, .premiumYearly)
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(396), .expired, renews: false, .premiumYearly)
            tale.tell(&anna)
        },
        Story(
            "upgraded-in-trial",
            teaches: "A trial that is replaced is over, and so is the status trial."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, offer: .freeWeek, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(1), .trial, renews: true, .basicMonthly)
            anna.upgrade(line, to: .premiumMonthly, at: tale.day(2))
            tale.expect(anna, line, at: tale.day(3), .active, renews: true, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "downgraded-at-renewal",
            teaches: "A downgrade waits for the renewal: until then the product is the dearer one."
        ) { tale in
            var anna = tale.subscriber(.turkiye, token: tale.token())
            let line = anna.buy(.premiumMonthly, at: tale.day(0))
            anna.downgrade(line, to: .basicMonthly, at: tale.day(10))
            tale.expect(anna, line, at: tale.day(11), .active, renews: true, .premiumMonthly, next: .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly, next: .basicMonthly)
            tale.expect(anna, line, at: tale.day(59), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "downgrade-taken-back",
            teaches: "A planned downgrade can be cancelled, told by a plan change without subtype."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumYearly, at: tale.day(0))
            anna.downgrade(line, to: .basicYearly, at: tale.day(100))
            tale.expect(anna, line, at: tale.day(101), .active, renews: true, .premiumYearly, next: .basicYearly)
            anna.cancelDowngrade(line, at: tale.day(110))
            tale.expect(anna, line, at: tale.day(111), .active, renews: true, .premiumYearly, next: .premiumYearly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(366), .active, renews: true, .premiumYearly)
            tale.tell(&anna)
        },
        Story(
            "advanced-commerce",
            teaches: "What the Advanced Commerce API changes about a subscription's contents leaves its periods alone."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let reference = tale.token()
            func contents(_ name: String, _ price: Int64) -> AdvancedCommerceRecord {
                AdvancedCommerceRecord(
                    requestReferenceId: reference, taxCode: "C003-00-2",
                    items: [
                        AdvancedCommerceRecord.Item(
                            sku: "channel.films", displayName: name, description: "Films & \"more\"", price: price)
                    ])
            }
            let line = anna.buy(.premiumMonthly, advancedCommerce: contents("Films", 9990), at: tale.day(0))
            tale.expect(anna, line, at: tale.day(1), .active, renews: true, .premiumMonthly)
            let renamed = contents("Films – neu", 9990)
            anna.changeCommerce(line, announcedAs: "METADATA_UPDATE", to: renamed, at: tale.day(5))
            let dearer = contents("Films – neu", 10_990)
            anna.changeCommerce(line, announcedAs: "PRICE_CHANGE", to: dearer, at: tale.day(9))
            tale.expect(anna, line, at: tale.day(10), .active, renews: true, .premiumMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "migrated-to-advanced-commerce",
            teaches: "A migration to the Advanced Commerce API, in either of its spellings, leaves the periods alone."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            var ben = tale.subscriber(token: tale.token())
            let contents = AdvancedCommerceRecord(
                requestReferenceId: tale.token(), taxCode: "C003-00-2",
                items: [
                    AdvancedCommerceRecord.Item(
                        sku: "channel.news", displayName: "News", description: "News", price: 4990)
                ])
            let annas = anna.buy(.basicMonthly, at: tale.day(0))
            let bens = ben.buy(.basicMonthly, at: tale.day(1))
            anna.changeCommerce(annas, announcedAs: "MIGRATION", to: contents, at: tale.day(8))
            ben.changeCommerce(bens, announcedAs: "MIGRATE", to: contents, at: tale.day(9))
            tale.expect(anna, annas, at: tale.day(10), .active, renews: true, .basicMonthly)
            tale.expect(ben, bens, at: tale.day(10), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
            tale.tell(&ben)
        },
    ]
}
