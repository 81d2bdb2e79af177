import AppStorePayloads
import AppStoreServerAPI
import Testing

@Suite("What Apple is told about use")
struct ConsumptionTests {
    private func information(
        _ delivery: DeliveryStatus = .delivered, percentage: Int64? = nil, _ preference: RefundPreference? = nil,
        consented: Bool = true
    ) -> ConsumptionInformation {
        ConsumptionInformation(
            customerConsented: consented, deliveryStatus: delivery, sampleContentProvided: false,
            consumptionPercentage: percentage, refundPreference: preference)
    }

    @Test("is nothing without the customer's consent: no such request can be made")
    func consent() {
        #expect(ServerRequest.consumptionInformation("1", information(consented: false)) == nil)
        #expect(information(consented: false).fault(for: nil)?.contains("consented") == true)
    }

    @Test("keeps Apple's rules for the fields, kind by kind")
    func rules() {
        let subscription = ProductType.autoRenewableSubscription
        #expect(information().fault(for: subscription) == nil)
        #expect(information(percentage: 100_000).fault(for: .consumable) == nil)
        #expect(information(percentage: 100_001).fault(for: nil) != nil)
        #expect(information(percentage: -1).fault(for: nil) != nil)
        #expect(information(.undeliveredOther, percentage: 0).fault(for: .consumable) == nil)
        #expect(information(.undeliveredOther, percentage: 1).fault(for: .consumable) != nil)
        #expect(information(.grantProrated, percentage: nil).fault(for: subscription) == nil)
        #expect(information(.grantProrated, percentage: 5).fault(for: subscription) != nil)
        #expect(information(.grantProrated, percentage: nil).fault(for: .consumable) != nil)
        #expect(information(.grantProrated, percentage: 0).fault(for: .consumable) != nil)
        #expect(information(.grantProrated, percentage: 5).fault(for: .consumable) == nil)
        #expect(information(.grantProrated, percentage: nil).fault(for: nil) == nil)
        #expect(information(.grantFull, percentage: nil).fault(for: .consumable) == nil)
    }

    private func information(_ preference: RefundPreference, percentage: Int64?) -> ConsumptionInformation {
        information(.delivered, percentage: percentage, preference)
    }
}
