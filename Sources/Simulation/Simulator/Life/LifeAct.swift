/// What can happen in a simulated life.
enum LifeAct: Sendable, Hashable, Codable {
    case subscribe
    case subscribeElsewhere
    case resubscribe
    case renew
    case fail
    case endGrace
    case recover
    case expire(SimulatedSubscriber.End)
    case switchOff
    case switchOn
    case upgrade
    case downgrade
    case undoDowngrade
    case takeOffer
    case announcePrice
    case acceptPrice
    case extend
    case askRefund(ofOldPeriod: Bool)
    case refund
    case declineRefund
    case reverseRefund
    case restore
    case purchaseOnce
    case askRefundOfPurchase
    case refundPurchase
    case reverseRefundOfPurchase
    case changeCommerce
    case loseFamily
    case callTest
    case callToken
    case rescindConsent
    case callUnknown
}
