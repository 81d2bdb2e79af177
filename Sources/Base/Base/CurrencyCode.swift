/// The currencies that files of rates, a catalog and questions may name.
package enum CurrencyCode {
    /// The currency that rates are stated for: each is one euro in another currency.
    package static let euro = "EUR"

    /// Whether this is the code of a currency: in use, or in use since rates are published (1999).
    package static func isKnown(_ code: some StringProtocol) -> Bool { known.contains(String(code)) }

    /// ISO 4217 as amended to the end of 2025, list one without metals, funds and test codes.
    private static let current = """
        AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP \
        CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD \
        JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN \
        NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN \
        SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
        """

    /// Currencies that are no longer in use, from the European Central Bank's file and from Apple's sales.
    private static let former =
        "ANG BGN BYR CUC CYP EEK HRK LTL LVL MRO MTL ROL SIT SKK SLL STD TRL VEF ZMK ZWL"

    private static let known = Set((current + " " + former).split(separator: " ").map { String($0) })
}
