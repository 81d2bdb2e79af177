import AppStorePayloads
import AppStoreVerification
import Base
import Simulation
import TestSupport
import Testing

@Suite("An old receipt")
struct ReceiptTests {
    private func fault(_ bytes: [UInt8]) -> ReceiptFault? {
        do throws(ReceiptFault) {
            _ = try Receipt(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test("is read with its purchases, whichever way its container is written", arguments: ReceiptSigner.Form.allCases)
    func contents(_ form: ReceiptSigner.Form) async throws {
        var signer = try await Shop.signer.value
        signer.form = form
        let items = Shop.items()
        let receipt = try Receipt(try signer.sign(Shop.receipt()))
        let contents = try #require(receipt.contents)
        #expect(contents.bundleId == Shop.app.bundleId && contents.environment == .sandbox)
        #expect(contents.receiptType == "ProductionSandbox")
        #expect(contents.applicationVersion == Shop.app.bundleVersion && contents.originalApplicationVersion == "1")
        #expect(contents.creationDate == Timestamp(millisecondsSince1970: Shop.now))
        #expect(contents.opaqueValue == Array("opaque".utf8) && contents.sha1Hash?.count == 20)
        #expect(contents.expirationDate == nil)
        #expect(contents.purchases.count == items.count && items.count == 2)
        for (purchase, item) in zip(contents.purchases, items) {
            func seconds(_ date: Milliseconds?) -> Timestamp? { date.map { Timestamp(secondsSince1970: $0 / 1000) } }
            #expect(purchase.transactionId == item.transactionId)
            #expect(purchase.originalTransactionId == item.originalTransactionId)
            #expect(purchase.productId == item.productId && purchase.quantity == 1)
            #expect(purchase.purchaseDate == seconds(item.purchaseDate))
            #expect(purchase.originalPurchaseDate == seconds(item.originalPurchaseDate))
            #expect(purchase.expiresDate == seconds(item.expiresDate) && purchase.expiresDate != nil)
            // An empty text is how Apple writes that there is no date.
            #expect(purchase.cancellationDate == nil && purchase.isInIntroOfferPeriod == false)
            #expect(purchase.webOrderLineItemId.map { "\($0)" } == item.webOrderLineItemId)
        }
        #expect(receipt.transactionIds == [items[0].originalTransactionId])
    }

    @Test("is taken in base64 of any kind, and as bytes; verifyReceipt gets it in the one kind that it reads")
    func texts() async throws {
        let bytes = try await Shop.signer.value.sign(Shop.receipt())
        let text = Base64.standard.encode(bytes)
        let broken = text.enumerated().flatMap { place, byte -> [UInt8] in
            place > 0 && place % 76 == 0 ? [0x0D, 0x0A, byte] : [byte]
        }
        for form in [bytes, text, broken, Base64.url.encode(bytes), text + [0x0A]] {
            let receipt = try Receipt(form)
            #expect(receipt.base64 == text && receipt.transactionIds.count == 1)
        }
    }

    @Test("of iOS 6 and before is asked about by the id that its purchase began with")
    func transactionReceipt() throws {
        let info = """
            {
            \t"original-purchase-date-pst" = "2012-04-30 08:05:55 America/Los_Angeles";
            \t"original-transaction-id" = "1000000046178817";
            \t"transaction-id" = "1000000046178818";
            }
            """
        let text = """
            {
            \t"signature" = "AAAA";
            \t"purchase-info" = "\(String(decoding: Base64.standard.encode(Array(info.utf8)), as: UTF8.self))";
            \t"environment" = "Sandbox";
            }
            """
        for bytes in [Array(text.utf8), Base64.standard.encode(Array(text.utf8))] {
            let receipt = try Receipt(bytes)
            #expect(receipt.contents == nil && receipt.transactionIds == ["1000000046178817"])
        }
    }

    @Test("with attributes that nobody knows, or that say nothing, is read all the same")
    func oddAttributes() async throws {
        let signer = try await Shop.signer.value
        var receipt = Shop.receipt()
        receipt.attributes.insert(.init(9999, [0x0D, 0x0E]), at: 0)
        receipt.attributes.append(.init(7, []))
        receipt.attributes.append(.init(12, [1, 2, 3]))
        receipt.attributes.append(.purchase([.text(1703, "../../x"), .init(1705, [0xFF]), .integer(1799, 5)]))
        receipt.attributes.append(.purchase([.text(1703, "7"), .text(1705, "")]))
        receipt.attributes.append(.init(17, [0x31, 0x7F]))
        let read = try Receipt(try signer.sign(receipt))
        #expect(read.contents?.creationDate != nil && read.contents?.purchases.count == 4)
        // What is no id never becomes part of a URL, and does not take the other one with it.
        #expect(read.transactionIds == [Shop.items()[0].originalTransactionId, "7"])
    }

    @Test("as Xcode writes it has one more octet string around what it says")
    func xcode() throws {
        var receipt = Shop.receipt()
        receipt.attributes[0] = .text(0, "Xcode")
        var wrapped = receipt.content
        wrapped = [0x04, 0x82, UInt8(wrapped.count >> 8), UInt8(wrapped.count & 0xFF)] + wrapped
        #expect(try Receipt(ReceiptSigner.unsigned(wrapped)).contents?.environment == .xcode)
    }

    @Test("that is none is refused with a reason and nothing of what it says")
    func faults() throws {
        #expect(fault([]) == .length)
        #expect(fault([UInt8](repeating: 0x41, count: Receipt.maximumSize + 1)) == .length)
        #expect(fault(Array("hunter2".utf8)) == .notText)
        #expect(fault(Array("%%%".utf8)) == .notText)
        #expect(fault([0x30, 0x80, 0xFF, 0x0D, 0x0A]) == .notASN1)
        #expect(fault([0x30, 0x03, 0x02, 0x01, 0xFF]) == .notPKCS7)
        #expect(fault(ReceiptSigner.unsigned([0x30, 0x00])) == .notAttributes)
        // Bytes behind the container are not passed over.
        #expect(fault(ReceiptSigner.unsigned(Shop.receipt().content) + [0, 0]) == .notASN1)
        for fault in ReceiptFault.allCases { #expect(!fault.description.contains("\n")) }
    }

    @Test("of four million bytes made to take all memory, or all stack, is refused for it")
    func bombs() throws {
        let size = 3 << 20
        // Two bytes a value: a hundred and more of memory each.
        let many: [UInt8] = [0x30, 0x83, 0x30, 0, 0] + (0..<(size / 2)).flatMap { _ in [0x05, 0x00] as [UInt8] }
        #expect(fault(many) == .beyondBounds)
        #expect(fault((0..<(size / 2)).flatMap { _ in [0x30, 0x80] as [UInt8] }) == .beyondBounds)
        #expect(fault([0x31, 0x80] + (0..<200).flatMap { _ in [0x31, 0x80] as [UInt8] }) != nil)
        // The same, in what the container holds.
        var set: [UInt8] = [0x31, 0x83, 0x20, 0, 0]
        set += (0..<(1 << 20)).flatMap { _ in [0x05, 0x00] as [UInt8] }
        #expect(fault(ReceiptSigner.unsigned(set)) == .beyondBounds)
        // The same in a certificate, where responders are looked up before anybody is trusted.
        var access: [UInt8] = [0x30, 0x83, 0x30, 0, 0]
        access += (0..<(size / 2)).flatMap { _ in [0x05, 0x00] as [UInt8] }
        let bomb = try Shop.elliptic { shape, place in
            guard place == 2 else { return }
            (shape.responder, shape.issuerLocation) = (nil, nil)
            shape.extensions.append(.init(oid: [1, 3, 6, 1, 5, 5, 7, 1, 1], value: access))
        }
        let failure = try #require(throws: VerificationFailure.self) {
            _ = try Shop.verifier(trusting: bomb).verify(try Receipt(try bomb.sign(Shop.receipt())))
        }
        // Before it is read: what it says is no list of responders either.
        #expect(failure.code == .malformedCertificate && failure.message.contains("8192 bytes"))
        // One that could be read, with more in it than any of Apple's.
        for (length, code) in [(4_000, nil), (8_192, .malformedCertificate)] as [(Int, VerificationCode?)] {
            let long = try Shop.elliptic { shape, place in
                if place == 2 { shape.policyText = String(repeating: "x", count: length) }
            }
            #expect(Shop.code(Shop.verifier(trusting: long), try long.sign(Shop.receipt())) == code, "\(length)")
        }
    }

    @Test("changed at any place, or cut off at any, is read as something or refused, and never ends the process")
    func damaged() async throws {
        var random = SeededGenerator(seed: 7)
        for form in ReceiptSigner.Form.allCases {
            var signer = try await Shop.signer.value
            signer.form = form
            let bytes = try signer.sign(Shop.receipt())
            for _ in 0..<samples(of: 1500, oneIn: 3) {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
                if Bool.random(using: &random) {
                    damaged.removeLast(Int.random(in: 0..<damaged.count, using: &random))
                }
                _ = try? Receipt(damaged)
            }
        }
    }
}
