@testable import Simulation

extension Story {
    /// Lives in which it matters whose something is.
    static let accountStories: [Story] = [
        Story(
            "of-nobody",
            teaches: "A purchase may never name an account; its state is kept all the same."
        ) { tale in
            var anna = tale.subscriber()
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(1), .active, renews: true, .basicMonthly, account: .nobody)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly, account: .nobody)
            tale.tell(&anna)
        },
        Story(
            "account-named-late",
            teaches: "The account token may appear only later, and binds what was bought before."
        ) { tale in
            let token = tale.token()
            var anna = tale.subscriber()
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(1), .active, renews: true, .basicMonthly, account: .nobody)
            anna.changeAccountToken(line, to: token)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly, account: .token(token))
            tale.expect(anna, at: tale.day(31), access: true, .basicMonthly, account: .token(token))
            tale.tell(&anna)
        },
        Story(
            "account-changed",
            teaches: "The account token may change: the latest record that has one decides."
        ) { tale in
            let (old, new) = (tale.token(), tale.token())
            var anna = tale.subscriber(token: old)
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(9), .active, renews: true, .basicMonthly, account: .token(old))
            anna.changeAccountToken(line, to: new)
            anna.switchAutoRenew(line, on: false, at: tale.day(10))
            tale.expect(anna, line, at: tale.day(11), .cancelled, renews: false, .basicMonthly, account: .token(new))
            tale.expect(anna, at: tale.day(11), access: false, .basicMonthly, account: .token(old))
            tale.expect(anna, at: tale.day(11), access: true, .basicMonthly, account: .token(new))
            tale.tell(&anna)
        },
        Story(
            "account-forgotten",
            teaches: "A record without an account token does not unbind what an earlier one has bound."
        ) { tale in
            let token = tale.token()
            var anna = tale.subscriber(token: token)
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.changeAccountToken(line, to: nil)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly, account: .token(token))
            tale.tell(&anna)
        },
        Story(
            "family-share-lost",
            teaches: "Family access is a line of its own; losing it takes nothing from the one who pays."
        ) { tale in
            let (parents, childs) = (tale.token(), tale.token())
            var parent = tale.subscriber(token: parents)
            var child = tale.subscriber(token: childs)
            let paid = parent.buy(.premiumYearly, at: tale.day(0))
            let shared = child.buy(.premiumYearly, ownership: .familyShared, at: tale.day(1))
            tale.expect(child, shared, at: tale.day(2), .active, renews: true, .premiumYearly, account: .token(childs))
            child.revokeFamily(shared, at: tale.day(12))
            tale.expect(child, shared, at: tale.day(13), .revoked, renews: false, .premiumYearly)
            tale.expect(child, at: tale.day(13), access: false, .premiumYearly, account: .token(childs))
            tale.expect(parent, paid, at: tale.day(13), .active, renews: true, .premiumYearly)
            tale.expect(parent, at: tale.day(13), access: true, .premiumYearly, account: .token(parents))
            tale.tell(&parent)
            tale.tell(&child)
        },
        Story(
            "two-groups",
            teaches: "Subscriptions of different groups live side by side on one account."
        ) { tale in
            let token = tale.token()
            var anna = tale.subscriber(token: token)
            let plus = anna.buy(.basicMonthly, at: tale.day(0))
            let news = anna.buy(.newsMonthly, at: tale.day(2))
            anna.switchAutoRenew(plus, on: false, at: tale.day(5))
            tale.expect(anna, plus, at: tale.day(6), .cancelled, renews: false, .basicMonthly)
            tale.expect(anna, news, at: tale.day(6), .active, renews: true, .newsMonthly)
            anna.expire(plus)
            tale.expect(anna, plus, at: tale.day(31), .expired, renews: false, .basicMonthly)
            tale.expect(anna, news, at: tale.day(31), .active, renews: true, .newsMonthly)
            tale.expect(anna, at: tale.day(31), access: false, .basicMonthly, account: .token(token))
            tale.expect(anna, at: tale.day(31), access: true, .newsMonthly, account: .token(token))
            tale.tell(&anna)
        },
        Story(
            "same-identifier-in-two-environments",
            teaches:
                "Identifiers are only unique within an environment: a Sandbox line ends without touching its "
                + "namesake in Production."
        ) { tale in
            var (tester, customer) = tale.twins(tale.app.in(.sandbox), tale.app.in(.production))
            let tested = tester.buy(.basicMonthly, at: tale.day(0))
            let paid = customer.buy(.basicMonthly, at: tale.day(0, hour: 1))
            tester.switchAutoRenew(tested, on: false, at: tale.day(3))
            tale.expect(tester, tested, at: tale.day(4), .cancelled, renews: false, .basicMonthly)
            tale.expect(customer, paid, at: tale.day(4), .active, renews: true, .basicMonthly)
            tester.refund(tester.latest(of: tested), at: tale.day(5))
            tale.expect(tester, tested, at: tale.day(6), .revoked, renews: false, .basicMonthly)
            tale.expect(customer, paid, at: tale.day(6), .active, renews: true, .basicMonthly)
            tale.tell(&tester)
            tale.tell(&customer)
        },
        Story(
            "same-identifier-in-two-apps",
            teaches: "Nothing crosses apps, whatever the identifiers say."
        ) { tale in
            var other = tale.app
            other.bundleId += ".second"
            other.appAppleId += 1
            var (anna, ben) = tale.twins(tale.app, other)
            let annas = anna.buy(.premiumMonthly, at: tale.day(0))
            let bens = ben.buy(.basicYearly, at: tale.day(0, hour: 1))
            anna.refund(anna.latest(of: annas), at: tale.day(5))
            tale.expect(anna, annas, at: tale.day(6), .revoked, renews: false, .premiumMonthly)
            tale.expect(ben, bens, at: tale.day(6), .active, renews: true, .basicYearly)
            tale.tell(&anna)
            tale.tell(&ben)
        },
    ]
}
