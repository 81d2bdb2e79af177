@testable import Simulation

extension Story {
    /// Lives with purchases that do not renew.
    static let purchaseStories: [Story] = [
        Story(
            "consumable-refunded-and-restored",
            teaches:
                "A consumable counts once, does not once it is refunded, and does again once the refund is "
                + "reversed."
        ) { tale in
            var anna = tale.subscriber(.japan, token: tale.token())
            let coins = anna.charge(.coins, at: tale.day(0))
            tale.expect(anna, coins, at: tale.day(0, hour: 1), credited: true)
            anna.requestRefund(of: coins, at: tale.day(1))
            tale.expect(anna, coins, at: tale.day(1, hour: 1), credited: true)
            anna.refund(coins, at: tale.day(2))
            tale.expect(anna, coins, at: tale.day(3), credited: false)
            anna.reverseRefund(of: coins, at: tale.day(9))
            tale.expect(anna, coins, at: tale.day(10), credited: true)
            tale.tell(&anna)
        },
        Story(
            "consumables-by-the-dozen",
            teaches:
                "Consumables of one product are told apart by their transactions; a refund of one leaves the "
                + "others."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let first = anna.charge(.coins, quantity: 3, at: tale.day(0))
            let second = anna.charge(.coins, at: tale.day(0, hour: 1))
            anna.requestRefund(of: first, reason: "FULFILLMENT_ISSUE", at: tale.day(1))
            anna.declineRefund(of: first, at: tale.day(2))
            anna.refund(second, form: .plain, at: tale.day(3))
            tale.expect(anna, first, at: tale.day(4), credited: true)
            tale.expect(anna, second, at: tale.day(4), credited: false)
            tale.tell(&anna)
        },
        Story(
            "unlocked-for-life",
            teaches: "A non-consumable is owned until its transaction is revoked."
        ) { tale in
            let token = tale.token()
            var anna = tale.subscriber(token: token)
            let unlock = anna.charge(.lifetime, at: tale.day(0))
            tale.expect(anna, at: tale.day(1), access: true, .lifetime, account: .token(token))
            tale.expect(anna, at: tale.day(400), access: true, .lifetime, account: .token(token))
            anna.refund(unlock, at: tale.day(410))
            tale.expect(anna, at: tale.day(411), access: false, .lifetime, account: .token(token))
            anna.reverseRefund(of: unlock, at: tale.day(420))
            tale.expect(anna, at: tale.day(421), access: true, .lifetime, account: .token(token))
            tale.tell(&anna)
        },
        Story(
            "season-pass",
            teaches:
                "A non-renewing subscription has no end that Apple knows: only the app can say how long it gives access."
        ) { tale in
            let token = tale.token()
            var anna = tale.subscriber(token: token)
            let pass = anna.charge(.seasonPass, at: tale.day(0))
            tale.expect(anna, at: tale.day(1), access: false, .seasonPass, account: .token(token))
            anna.refund(pass, at: tale.day(3))
            tale.expect(anna, at: tale.day(4), access: false, .seasonPass, account: .token(token))
            tale.tell(&anna)
        },
    ]
}
